#include <fmt/format.h>
#include <gmock/gmock.h>

#include "authoring/import_fixture.h"

namespace muster::authoring {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kShopDescription = R"yaml(openapi: 3.1.0
info: { title: Shop, version: "1" }
servers:
  - url: https://{region}.shop.test/v1/
    variables: { region: { default: eu } }
security: [ { token: [] } ]
paths:
  /pets/{petId}:
    parameters:
      - { name: petId, in: path, required: true, schema: { type: integer, minimum: 7 } }
    get:
      operationId: showPet
      tags: [pets]
      parameters:
        - { name: limit, in: query, schema: { type: integer, default: 10 } }
        - { name: sort, in: query, schema: { type: string } }
        - { name: X-Trace, in: header, required: true, schema: { type: string, format: uuid } }
      responses:
        200: { description: ok }
        "404": { description: none }
  /pets:
    post:
      operationId: env
      tags: [pets]
      security: []
      requestBody:
        content:
          application/json:
            schema: { $ref: "#/components/schemas/Pet" }
      responses: { 2XX: { description: ok } }
  /upload:
    put:
      tags: [files]
      requestBody:
        content:
          multipart/form-data:
            schema: { type: object, properties: { photo: { type: string, format: binary }, note: { type: string } } }
            encoding: { photo: { contentType: image/png } }
      responses: { default: { description: any } }
components:
  securitySchemes: { token: { type: http, scheme: bearer } }
  schemas:
    Pet:
      type: object
      required: [name]
      properties:
        id: { type: integer, readOnly: true }
        name: { type: string, example: "${rex}" }
        tags: { type: array, items: { type: string, enum: [good, bad] } }
        parent: { $ref: "#/components/schemas/Pet" }
        elsewhere: { $ref: "other.yaml#/X" }
)yaml";

class OpenApiImportTest : public ImportTest {};

TEST_F(OpenApiImportTest, MakesAStepOfEachOperation) {
  const model::Job job = import(openapi_importer(), std::string(kShopDescription));
  ASSERT_EQ(job.workflows.size(), 1u);
  const auto& steps = job.workflows[0].steps;
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(job.targets[0].address, "https://eu.shop.test/v1");
  EXPECT_EQ(steps[0].name, "showPet");
  EXPECT_EQ(text_of(steps[0].field("url")), "/pets/7");
  EXPECT_EQ(text_of(steps[0].field("query")->find("limit")), "10");
  EXPECT_EQ(steps[0].field("query")->find("sort"), nullptr);
  EXPECT_THAT(notes(), HasSubstr("optional parameters without an example are left out: sort"));
  EXPECT_NE(steps[0].field("headers")->find("X-Trace"), nullptr);
  EXPECT_EQ(steps[0].field("expect")->list()->size(), 1u);
  EXPECT_EQ(steps[1].name, "env_");
}

TEST_F(OpenApiImportTest, TakesNumbersForVariablesOfTheServer) {
  const auto with = [](std::string_view variables) {
    return fmt::format(
        "openapi: 3.0.3\nservers: [ {{ url: \"http://a.test:{{port}}/v{{version}}\", variables: {} }} ]\n"
        "paths: {{ /x: {{ get: {{ responses: {{ 200: {{}} }} }} }} }}\n",
        variables);
  };
  model::Job job = import(openapi_importer(), with("{ port: { default: 9922 }, version: { default: 1.5 } }"));
  ASSERT_EQ(job.targets.size(), 1u) << error;
  EXPECT_EQ(job.targets[0].address, "http://a.test:9922/v1.5");
  EXPECT_THAT(notes(), Not(HasSubstr("of the server")));
  job = import(openapi_importer(), with("{ port: { default: '80' }, version: { enum: [ 1, 2 ] } }"));
  ASSERT_EQ(job.targets.size(), 1u) << error;
  EXPECT_EQ(job.targets[0].address, "http://a.test:80/v");
  EXPECT_THAT(notes(), HasSubstr("the variable 'version' of the server has no default: change `target`"));
}

TEST_F(OpenApiImportTest, FollowsNoRedirectThatIsTheSuccessItself) {
  const model::Job job = import(openapi_importer(), R"yaml(openapi: 3.0.3
servers: [ { url: "http://a.test" } ]
paths:
  /login: { get: { responses: { "302": {}, "404": {} } } }
  /old: { get: { responses: { 3XX: {}, "301": {}, default: {} } } }
  /both: { get: { responses: { "200": {}, "302": {} } } }
  /any: { get: { responses: { default: {} } } }
)yaml");
  ASSERT_EQ(job.workflows.size(), 1u) << error;
  const auto& steps = job.workflows[0].steps;
  EXPECT_EQ(*steps[0].field("redirects")->integer(), 0);
  EXPECT_EQ(*steps[1].field("redirects")->integer(), 0);
  EXPECT_GT(*steps[2].field("redirects")->integer(), 0);
  EXPECT_GT(*steps[3].field("redirects")->integer(), 0);
}

TEST_F(OpenApiImportTest, MakesBodiesFromSchemas) {
  const model::Job job = import(openapi_importer(), std::string(kShopDescription));
  const model::Tree& pet = *job.workflows[0].steps[1].field("json");
  EXPECT_EQ(text_of(pet.find("name")), "$${rex}");
  EXPECT_EQ(pet.find("id"), nullptr);
  EXPECT_EQ(text_of(&(*pet.find("tags")->list())[0]), "good");
  EXPECT_EQ(pet.find("parent"), nullptr) << "a circle";
  EXPECT_EQ(pet.find("elsewhere"), nullptr);
  EXPECT_THAT(notes(), HasSubstr("other.yaml"));
  EXPECT_THAT(notes(), HasSubstr("the part 'photo' is a file"));
  EXPECT_THAT(notes(), HasSubstr("the encoding of its parts is left out"));
}

TEST_F(OpenApiImportTest, TakesSecretsFromTheEnvironment) {
  const model::Job job = import(openapi_importer(), std::string(kShopDescription));
  EXPECT_THAT(made.yaml, HasSubstr("secrets:\n  - TOKEN"));
  EXPECT_EQ(text_of(job.workflows[0].steps[0].field("auth")->find("bearer")), "${env.TOKEN}");
  EXPECT_EQ(job.workflows[0].steps[1].field("auth"), nullptr);
}

TEST_F(OpenApiImportTest, ChoosesByTagAndOperation) {
  settings = {{"tag", "files"}};
  EXPECT_EQ(import(openapi_importer(), std::string(kShopDescription)).workflows[0].steps.size(), 1u);
  settings = {{"operation", "showPet"}, {"operation", "PUT /upload"}};
  EXPECT_EQ(import(openapi_importer(), std::string(kShopDescription)).workflows[0].steps.size(), 2u);
  settings = {{"by-tag", "true"}};
  const model::Job job = import(openapi_importer(), std::string(kShopDescription));
  ASSERT_EQ(job.workflows.size(), 2u);
  EXPECT_EQ(job.workflows[1].name, "pets");
}

TEST_F(OpenApiImportTest, ReadsSwaggerInJson) {
  const model::Job job =
      import(openapi_importer(), R"json({"swagger": "2.0", "host": "api.test", "basePath": "/v2", "schemes": ["http"],
    "securityDefinitions": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}, "security": [{"key": []}],
    "paths": {"/a": {"post": {"parameters": [{"in": "body", "name": "b", "schema": {"type": "object", "properties": {"n": {"type": "number", "maximum": 0.5}}}}],
      "responses": {"201": {}}}},
      "/f": {"post": {"parameters": [{"in": "formData", "name": "x", "required": true, "type": "string"}], "responses": {}}}}})json");
  ASSERT_EQ(job.workflows.size(), 1u) << error;
  EXPECT_EQ(job.targets[0].address, "http://api.test/v2");
  EXPECT_EQ(*job.workflows[0].steps[0].field("json")->find("n")->number(), 0.5);
  EXPECT_EQ(text_of(job.workflows[0].steps[0].field("headers")->find("X-Key")), "${env.API_KEY}");
  EXPECT_EQ(text_of(job.workflows[0].steps[1].field("form")->find("x")), "sample");
}

TEST_F(OpenApiImportTest, SendsSwaggersBodiesAsWhatIsConsumed) {
  const std::string body = R"("parameters": [{"in": "body", "name": "b", "schema": {"type": "object", "properties": )"
                           R"({"n": {"type": "integer"}}}}])";
  std::string paths;
  for (const char* consumes :
       {R"(["application/xml"])", R"(["application/xml", "application/vnd.api+json"])",
        R"(["multipart/form-data", "text/plain"])", R"(["*/*"])", "[]", R"(["application/x-www-form-urlencoded"])"}) {
    paths += fmt::format(R"("/{}": {{"post": {{"consumes": {}, {}}}}}, )", paths.size(), consumes, body);
  }
  const model::Job job = import(
      openapi_importer(), fmt::format(R"({{"swagger": "2.0", "host": "a.test", "consumes": ["application/hal+json"], )"
                                      R"("paths": {{{} "/last": {{"post": {{{}}}}}}}}})",
                                      paths, body));
  ASSERT_EQ(job.workflows.size(), 1u) << error;
  const auto& steps = job.workflows[0].steps;
  ASSERT_EQ(steps.size(), 7u);
  EXPECT_EQ(text_of(steps[0].field("body")), R"({"n":1})");
  EXPECT_EQ(text_of(steps[0].field("type")), "application/xml");
  EXPECT_THAT(notes(), HasSubstr("its body of type application/xml is a sample; put in a real one"));
  EXPECT_EQ(*steps[1].field("json")->find("n")->integer(), 1);
  EXPECT_EQ(text_of(steps[1].field("headers")->find("Content-Type")), "application/vnd.api+json");
  EXPECT_THAT(notes(), HasSubstr("of 2 kinds of body, application/vnd.api+json is sent"));
  EXPECT_EQ(text_of(steps[2].field("type")), "text/plain");
  EXPECT_EQ(*steps[3].field("json")->find("n")->integer(), 1);
  EXPECT_EQ(*steps[4].field("json")->find("n")->integer(), 1);
  EXPECT_EQ(steps[4].field("headers"), nullptr);
  EXPECT_EQ(text_of(steps[5].field("form")->find("n")), "1");
  EXPECT_EQ(text_of(steps[6].field("headers")->find("Content-Type")), "application/hal+json");
}

constexpr std::string_view kStyles = R"yaml(openapi: 3.0.3
servers: [ { url: "http://a.test" } ]
paths:
  /a/{p}/{l}/{s}/{m}:
    get:
      parameters:
        - { name: p, in: path, required: true, style: matrix, schema: { type: string }, example: v }
        - { name: l, in: path, required: true, style: label, explode: true, schema: { type: array }, example: [1, 2] }
        - { name: s, in: path, required: true, schema: { type: object }, example: { x: "3/4", y: 4 } }
        - { name: m, in: path, required: true, style: matrix, explode: true, schema: { type: array }, example: [1, 2] }
        - { name: csv, in: query, explode: false, schema: { type: array }, example: [1, "2,3"] }
        - { name: pipe, in: query, style: pipeDelimited, explode: false, schema: { type: array }, example: [1, 2] }
        - { name: space, in: query, style: spaceDelimited, schema: { type: array }, example: [1, 2] }
        - { name: obj, in: query, explode: false, schema: { type: object }, example: { x: 3, y: 4 } }
        - { name: deep, in: query, style: deepObject, schema: { type: object }, example: { x: 3, y: 4 } }
        - { name: form, in: query, schema: { type: object }, example: { x: 3, y: 4 } }
        - { name: again, in: query, schema: { type: object }, example: { x: 5 } }
        - { name: many, in: query, schema: { type: array }, example: [1, 2] }
        - { name: open, in: query, allowReserved: true, schema: { type: string }, example: "a/b&c" }
        - { name: filter, in: query, content: { application/json: { example: { k: 1 } } } }
        - { name: H, in: header, schema: { type: array }, example: [1, 2] }
        - { name: O, in: header, explode: true, schema: { type: object }, example: { x: 3, y: 4 } }
        - { name: c, in: cookie, explode: false, schema: { type: array }, example: [1, 2] }
)yaml";

TEST_F(OpenApiImportTest, WritesParametersInTheirStyle) {
  const model::Job job = import(openapi_importer(), std::string(kStyles));
  ASSERT_EQ(job.workflows.size(), 1u) << error;
  const model::Step& step = job.workflows[0].steps[0];
  EXPECT_EQ(text_of(step.field("url")),
            "/a/;p=v/.1.2/x,3%2F4,y,4/;m=1;m=2?csv=1,2%2C3&pipe=1%7C2&space=1%202&obj=x,3,y,4&open=a/b%26c");
  const model::Tree& query = *step.field("query");
  EXPECT_EQ(text_of(query.find("deep[x]")), "3");
  EXPECT_EQ(text_of(query.find("deep[y]")), "4");
  EXPECT_EQ(text_of(query.find("y")), "4");
  ASSERT_NE(query.find("x")->list(), nullptr) << "the second object with an x must not lose its own";
  EXPECT_EQ(text_of(&(*query.find("x")->list())[1]), "5");
  EXPECT_EQ(query.find("many")->list()->size(), 2u);
  EXPECT_EQ(text_of(query.find("filter")), "{\"k\":1}");
  EXPECT_EQ(text_of(step.field("headers")->find("H")), "1,2");
  EXPECT_EQ(text_of(step.field("headers")->find("O")), "x=3,y=4");
  EXPECT_EQ(text_of(step.field("headers")->find("Cookie")), "c=1,2");
  EXPECT_EQ(notes(), "");
}

TEST_F(OpenApiImportTest, SaysWhichStylesHaveNoMeaning) {
  import(openapi_importer(), R"yaml(openapi: 3.0.3
servers: [ { url: "http://a.test" } ]
paths:
  /a:
    get:
      parameters:
        - { name: a, in: query, style: matrix, example: 1 }
        - { name: b, in: query, style: deepObject, example: [1] }
        - { name: c, in: query, example: { x: [1, 2] } }
        - { name: d, in: cookie, example: [1, 2] }
)yaml");
  EXPECT_THAT(notes(), HasSubstr("'a': style 'matrix' has no meaning here, form is used"));
  EXPECT_THAT(notes(), HasSubstr("'b' is a list: deepObject has no meaning"));
  EXPECT_THAT(notes(), HasSubstr("'c' has lists or objects inside"));
  EXPECT_THAT(notes(), HasSubstr("each is sent as a cookie"));
}

TEST_F(OpenApiImportTest, WritesListsInSwaggersCollectionFormats) {
  std::string parameters;
  for (const std::string each : {"", "csv", "ssv", "tsv", "pipes", "multi", "odd"}) {
    parameters += (parameters.empty() ? "" : ",") + std::string(R"({"in": "query", "type": "array", "name": "q)") +
                  each + R"(", "default": [1, 2])" + (each.empty() ? "" : R"(, "collectionFormat": ")" + each + "\"") +
                  "}";
  }
  parameters += R"(,{"in": "formData", "type": "array", "name": "f", "default": [1, 2], "collectionFormat": "pipes"})";
  const model::Job job = import(openapi_importer(), R"({"swagger": "2.0", "host": "a.test", "paths": {"/x": {"post": )"
                                                    R"({"parameters": [)" +
                                                        parameters + "]}}}}");
  ASSERT_EQ(job.workflows.size(), 1u) << error;
  const model::Step& step = job.workflows[0].steps[0];
  EXPECT_EQ(text_of(step.field("url")), "/x?q=1,2&qcsv=1,2&qssv=1%202&qtsv=1%092&qpipes=1%7C2&qodd=1,2");
  EXPECT_EQ(step.field("query")->find("qmulti")->list()->size(), 2u);
  EXPECT_EQ(text_of(step.field("form")->find("f")), "1|2");
  EXPECT_THAT(notes(), HasSubstr("collectionFormat 'odd' has no meaning here"));
}

TEST_F(OpenApiImportTest, WritesFormsAsTheirEncodingSays) {
  const model::Job job = import(openapi_importer(), R"yaml(openapi: 3.0.3
servers: [ { url: "http://a.test" } ]
paths:
  /a:
    post:
      requestBody:
        content:
          application/x-www-form-urlencoded:
            example: { list: [1, 2], joined: [1, 2], deep: { x: 3 }, plain: { x: 3 } }
            encoding: { joined: { explode: false }, deep: { style: deepObject } }
)yaml");
  ASSERT_EQ(job.workflows.size(), 1u) << error;
  const model::Tree& form = *job.workflows[0].steps[0].field("form");
  EXPECT_EQ(form.find("list")->list()->size(), 2u);
  EXPECT_EQ(text_of(form.find("joined")), "1,2");
  EXPECT_EQ(text_of(form.find("deep[x]")), "3");
  EXPECT_EQ(text_of(form.find("plain")), "{\"x\":3}");
}

TEST_F(OpenApiImportTest, MakesUpValuesThatFitOrSaysThatTheyMayNot) {
  const model::Job job = import(openapi_importer(), R"yaml(openapi: 3.1.0
servers: [ { url: "http://a.test" } ]
paths:
  /a:
    post:
      parameters:
        - { name: q, in: query, required: true, schema: { type: string, format: phone } }
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                code: { type: string, pattern: "^[A-Z]{3}$" }
                odd: { type: string, pattern: "^(?=x)" }
                seven: { type: integer, multipleOf: 7, minimum: 10 }
                below: { type: integer, multipleOf: 7, maximum: -10 }
                cents: { type: number, multipleOf: 0.01, minimum: 0.05 }
                inside: { type: number, exclusiveMinimum: 0, exclusiveMaximum: 1 }
                whole: { type: integer, minimum: 1.5 }
                none: { type: integer, minimum: 3, maximum: 4, multipleOf: 7 }
                id: { type: string, format: uuid, maxLength: 3 }
                eight: { type: array, minItems: 8, items: { type: boolean } }
                set: { type: array, minItems: 2, uniqueItems: true, items: { type: boolean } }
                both: { allOf: [ { type: string }, { minLength: 9 } ] }
)yaml");
  ASSERT_EQ(job.workflows.size(), 1u) << error;
  const model::Tree& made_up = *job.workflows[0].steps[0].field("json");
  EXPECT_EQ(text_of(made_up.find("code")), "AAA");
  EXPECT_EQ(*made_up.find("seven")->integer(), 14);
  EXPECT_EQ(*made_up.find("below")->integer(), -14);
  EXPECT_EQ(*made_up.find("cents")->number(), 0.05);
  EXPECT_EQ(*made_up.find("inside")->number(), 0.5);
  EXPECT_EQ(*made_up.find("whole")->integer(), 2);
  EXPECT_EQ(made_up.find("eight")->list()->size(), 8u);
  EXPECT_EQ(text_of(made_up.find("both")), "sample");
  EXPECT_THAT(notes(),
              HasSubstr("made-up values may not fit the schema: q (format phone), odd (pattern ^(?=x)), none (minimum "
                        "and maximum), id (maxLength), set (uniqueItems), both (allOf)"));
}

TEST_F(OpenApiImportTest, KeepsEveryDigitOfLargeWholeNumbers) {
  const model::Job job = import(openapi_importer(), R"yaml(openapi: 3.1.0
servers: [ { url: "http://a.test" } ]
paths:
  /a:
    post:
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                least: { type: integer, format: int64, minimum: 9007199254740993 }
                above: { type: integer, exclusiveMinimum: 9007199254740993, multipleOf: 2 }
                last: { type: integer, minimum: 9223372036854775807 }
                most: { type: integer, maximum: -9007199254740993 }
                any: { type: integer, minimum: -9223372036854775808, maximum: 9223372036854775807 }
                given: { type: integer, example: 9007199254740993 }
                unsigned: { type: integer, example: 18446744073709551615 }
                past: { type: integer, minimum: 9223372036854775808 }
)yaml");
  ASSERT_EQ(job.workflows.size(), 1u) << error;
  const model::Tree& made_up = *job.workflows[0].steps[0].field("json");
  const auto whole = [&](const char* name) { return *made_up.find(name)->integer(); };
  EXPECT_EQ(whole("least"), 9007199254740993);
  EXPECT_EQ(whole("above"), 9007199254740994);
  EXPECT_EQ(whole("last"), 9223372036854775807);
  EXPECT_EQ(whole("most"), -9007199254740993);
  EXPECT_EQ(whole("any"), 1);
  EXPECT_EQ(whole("given"), 9007199254740993);
  EXPECT_EQ(made_up.find("unsigned")->digits, "18446744073709551615");
  EXPECT_EQ(made_up.find("past")->digits, "9223372036854775808");
}

TEST_F(OpenApiImportTest, KeepsPropertiesBesideAlternatives) {
  const model::Job job = import(openapi_importer(), R"yaml(openapi: 3.1.0
servers: [ { url: "http://a.test" } ]
paths:
  /a:
    post:
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                any: { $ref: "#/components/schemas/Any" }
                one: { $ref: "#/components/schemas/One" }
                real: { $ref: "#/components/schemas/Real" }
                circle: { $ref: "#/components/schemas/Circle" }
                plain: { oneOf: [ { type: integer }, { type: string } ] }
                bare: { type: object, anyOf: [ { $ref: "#/components/schemas/Bare" } ] }
components:
  schemas:
    Any:
      type: object
      properties: { a: { type: string }, b: { type: integer } }
      anyOf: [ { required: [a] }, { required: [b] } ]
    One:
      properties: { id: { type: integer }, mail: { type: string }, phone: { type: string } }
      oneOf: [ { required: [mail], properties: { mail: {} } }, { required: [phone] } ]
    Real:
      type: object
      required: [kind]
      properties: { kind: { type: string } }
      oneOf: [ { $ref: "#/components/schemas/Dog" }, { type: object, required: [kind] } ]
    Dog: { type: object, properties: { kind: { const: dog }, bark: { type: boolean } } }
    Circle:
      type: object
      properties: { self: { $ref: "#/components/schemas/Circle" }, other: { $ref: "#/components/schemas/Circle" } }
      anyOf: [ { required: [self] } ]
    Bare: { properties: { n: { type: integer }, again: { type: object, oneOf: [ { $ref: "#/components/schemas/Bare" } ] } } }
)yaml");
  ASSERT_EQ(job.workflows.size(), 1u) << error;
  const model::Tree& body = *job.workflows[0].steps[0].field("json");
  EXPECT_EQ(text_of(body.find("any")->find("a")), "sample");
  EXPECT_EQ(*body.find("any")->find("b")->integer(), 1);
  EXPECT_EQ(*body.find("one")->find("id")->integer(), 1);
  EXPECT_EQ(text_of(body.find("one")->find("mail")), "sample");
  EXPECT_EQ(body.find("one")->find("phone"), nullptr) << "with it the object fits both";
  EXPECT_EQ(text_of(body.find("real")->find("kind")), "dog");
  EXPECT_TRUE(*body.find("real")->find("bark")->boolean());
  ASSERT_NE(body.find("circle")->find("self"), nullptr) << "the alternative requires it";
  EXPECT_TRUE(body.find("circle")->find("self")->null());
  EXPECT_EQ(body.find("circle")->find("other"), nullptr);
  EXPECT_EQ(*body.find("plain")->integer(), 1);
  EXPECT_EQ(*body.find("bare")->find("n")->integer(), 1);
  EXPECT_EQ(body.find("bare")->find("again"), nullptr) << "a circle";
}

TEST_F(OpenApiImportTest, MakesListsOfListsNoLargerThanItsLimits) {
  std::string schema = R"({"type": "string", "example": ")" + std::string(5'000, 'e') + R"("})";
  for (int i = 0; i < 6; ++i) schema = R"({"type": "array", "minItems": 100, "items": )" + schema + "}";
  const model::Job job = import(openapi_importer(), R"({"openapi": "3.0.0", "servers": [{"url": "http://a.test"}],
      "paths": {"/a": {"post": {"requestBody": {"content": {"application/json": {"schema": )" +
                                                        schema + "}}}}}}}");
  ASSERT_EQ(job.workflows.size(), 1u) << error;
  EXPECT_LT(made.yaml.size(), 300'000u);
  EXPECT_THAT(notes(), HasSubstr("minItems"));
}

TEST_F(OpenApiImportTest, WritesBodiesNoDeeperThanTheLoaderReads) {
  const model::Job job = import(openapi_importer(), R"({"openapi": "3.0.0", "servers": [{"url": "http://a.test"}],
      "paths": {"/a": {"post": {"requestBody": {"content": {"application/json": {"example": )" +
                                                        std::string(80, '[') + std::string(80, ']') + "}}}}}}}");
  EXPECT_EQ(job.workflows.size(), 1u) << error;
  EXPECT_THAT(notes(), HasSubstr("more than 50 levels deep is left out"));
}

TEST_F(OpenApiImportTest, NamesWorkflowsByWhateverIsATag) {
  settings = {{"by-tag", "true"}};
  const model::Job job = import(openapi_importer(), R"yaml(openapi: 3.0.3
servers: [ { url: "http://a.test" } ]
paths:
  /a: { get: { tags: [ "" ] } }
  /b: { get: { tags: [ "${x" ] } }
  /c: { get: { tags: [ "${env.NONE}" ] } }
)yaml");
  ASSERT_EQ(job.workflows.size(), 3u) << error;
  EXPECT_EQ(job.workflows[0].name, "${env.NONE}");
  EXPECT_EQ(job.workflows[1].name, "${x");
  EXPECT_EQ(job.workflows[2].name, "other");
}

TEST_F(OpenApiImportTest, MakesNoMoreWorkflowsThanAJobMayHave) {
  settings = {{"by-tag", "true"}};
  std::string paths;
  for (int i = 0; i < 1'100; ++i)
    paths += fmt::format(R"({}"/{}": {{"get": {{"tags": ["t{}"]}}}})", i == 0 ? "" : ", ", i, i);
  const model::Job job =
      import(openapi_importer(),
             fmt::format(R"({{"openapi": "3.0.0", "servers": [{{"url": "http://a.test"}}], "paths": {{{}}}}})", paths));
  EXPECT_EQ(job.workflows.size(), 1'000u) << error;
  EXPECT_EQ(made.steps, 1'100u);
  EXPECT_THAT(notes(), HasSubstr("a job has at most 1000 workflows"));
}

TEST_F(OpenApiImportTest, LeavesOutNamesThatCannotBeSent) {
  const std::string large(1'100, 'k');
  for (const std::string& name : {std::string("a\\nb"), large, std::string()}) {
    for (const char* in : {"cookie", "header", "query"}) {
      const model::Job job = import(
          openapi_importer(),
          fmt::format(R"({{"openapi": "3.0.0", "servers": [{{"url": "http://a.test"}}], "security": [{{"k": []}}],
              "components": {{"securitySchemes": {{"k": {{"type": "apiKey", "in": "{0}", "name": "{1}"}}}}}},
              "paths": {{"/a": {{"get": {{"parameters": [{{"name": "{1}", "in": "header", "example": 1}}]}}}}}}}})",
                      in, name));
      EXPECT_EQ(job.workflows.size(), 1u) << error;
      EXPECT_THAT(notes(), HasSubstr("the API key"));
      EXPECT_THAT(made.variables, testing::IsEmpty());
    }
  }
}

TEST_F(OpenApiImportTest, TellsOfARequiredValueThatWouldNeverEnd) {
  const model::Job job = import(openapi_importer(), R"yaml(openapi: 3.0.3
servers: [ { url: "http://a.test" } ]
paths:
  /a: { post: { requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Node" } } } } } }
components:
  schemas:
    Node:
      type: object
      required: [ name, self, nothing ]
      properties:
        name: { type: string }
        self: { $ref: "#/components/schemas/Node" }
        other: { $ref: "#/components/schemas/Node" }
        nothing: {}
)yaml");
  ASSERT_EQ(job.workflows.size(), 1u) << error;
  EXPECT_TRUE(job.workflows[0].steps[0].field("json")->find("self")->null());
  EXPECT_THAT(notes(), HasSubstr("may not fit the schema: self (a circle of references, null in its place)\n"));
}

TEST_F(OpenApiImportTest, LosesNoReferenceWithoutAWord) {
  import(openapi_importer(), R"yaml(openapi: 3.0.0
servers: [ { url: "http://a.test" } ]
paths:
  /a:
    get:
      parameters: [ { $ref: "#/components/parameters/nope" } ]
      responses: {}
  /b:
    get:
      parameters: [ { $ref: "other.yaml#/x" } ]
      responses: {}
  /c:
    post:
      requestBody: { $ref: "#/components/requestBodies/nope" }
      responses: {}
  /d:
    post:
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Nope" } } } }
      responses: {}
  /e:
    get:
      parameters: [ { $ref: "#/components/parameters/circle" } ]
      responses: {}
  /f: { $ref: "#/components/pathItems/nope" }
  /g:
    get:
      parameters: [ { $ref: "#/components/parameters/page" }, { $ref: "third.yaml#/y" } ]
      responses: {}
components:
  parameters:
    circle: { $ref: "#/components/parameters/circle" }
    page: { name: page, in: query, example: 1 }
)yaml");
  EXPECT_EQ(made.steps, 6u) << error;
  for (const auto& [where, reference] : {std::pair("GET /a", "#/components/parameters/nope"),
                                         {"POST /c", "#/components/requestBodies/nope"},
                                         {"POST /d", "#/components/schemas/Nope"},
                                         {"GET /e", "#/components/parameters/circle"},
                                         {"/f", "#/components/pathItems/nope"}}) {
    EXPECT_THAT(notes(), HasSubstr(fmt::format("{}: the reference {} leads to nothing in the description: what it "
                                               "stands for is missing\n",
                                               where, reference)));
  }
  EXPECT_THAT(notes(), HasSubstr("GET /b: the reference other.yaml#/x leads to another file, which is not read"));
  EXPECT_THAT(notes(), HasSubstr("GET /g: the reference third.yaml#/y leads to another file, which is not read"));
  EXPECT_THAT(notes(), HasSubstr("bundle the description first"));
  EXPECT_THAT(notes(), Not(HasSubstr("parameters/page")));
}

TEST_F(OpenApiImportTest, RefusesWhatIsNoDescription) {
  for (const char* text : {"", "a: b", "{\"openapi\": \"3.0.0\"}", "{\"openapi\": \"4\", \"paths\": {}}", "\t",
                           "openapi: 3.0.0\npaths: {}"}) {
    error.clear();
    import(openapi_importer(), text);
    EXPECT_NE(error, "") << text;
  }
}

TEST_F(OpenApiImportTest, AsksForADescriptionWhereThereIsNothing) {
  for (const char* text : {"", " \n", "\xEF\xBB\xBF", "# to do\n\n  # later\n"}) {
    error.clear();
    import(openapi_importer(), text);
    EXPECT_THAT(error, HasSubstr("the input is empty; expected an OpenAPI 3 or Swagger 2.0 description")) << text;
  }
}

}  // namespace
}  // namespace muster::authoring
