#include <gmock/gmock.h>

#include "authoring/import_fixture.h"

namespace muster::authoring {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kShop = R"yaml(openapi: 3.1.0
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
  const model::Job job = import(openapi_importer(), std::string(kShop));
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

TEST_F(OpenApiImportTest, MakesBodiesFromSchemas) {
  const model::Job job = import(openapi_importer(), std::string(kShop));
  const model::Tree& pet = *job.workflows[0].steps[1].field("json");
  EXPECT_EQ(text_of(pet.find("name")), "$${rex}");
  EXPECT_EQ(pet.find("id"), nullptr);
  EXPECT_EQ(text_of(&(*pet.find("tags")->list())[0]), "good");
  EXPECT_EQ(pet.find("parent"), nullptr) << "a circle";
  EXPECT_EQ(pet.find("elsewhere"), nullptr);
  EXPECT_THAT(notes(), HasSubstr("other.yaml"));
  EXPECT_THAT(notes(), HasSubstr("the part 'photo' is a file"));
}

TEST_F(OpenApiImportTest, TakesSecretsFromTheEnvironment) {
  const model::Job job = import(openapi_importer(), std::string(kShop));
  EXPECT_THAT(made.yaml, HasSubstr("secrets:\n  - TOKEN"));
  EXPECT_EQ(text_of(job.workflows[0].steps[0].field("auth")->find("bearer")), "${env.TOKEN}");
  EXPECT_EQ(job.workflows[0].steps[1].field("auth"), nullptr);
}

TEST_F(OpenApiImportTest, ChoosesByTagAndOperation) {
  settings = {{"tag", "files"}};
  EXPECT_EQ(import(openapi_importer(), std::string(kShop)).workflows[0].steps.size(), 1u);
  settings = {{"operation", "showPet"}, {"operation", "PUT /upload"}};
  EXPECT_EQ(import(openapi_importer(), std::string(kShop)).workflows[0].steps.size(), 2u);
  settings = {{"by-tag", "true"}};
  const model::Job job = import(openapi_importer(), std::string(kShop));
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

TEST_F(OpenApiImportTest, RefusesWhatIsNoDescription) {
  for (const char* text : {"", "a: b", "{\"openapi\": \"3.0.0\"}", "{\"openapi\": \"4\", \"paths\": {}}", "\t",
                           "openapi: 3.0.0\npaths: {}"}) {
    error.clear();
    import(openapi_importer(), text);
    EXPECT_NE(error, "") << text;
  }
}

}  // namespace
}  // namespace muster::authoring
