#include "report/html_report.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <string_view>

#include "report/html/assets.h"
#include "report/html/sections.h"

namespace muster::report {
namespace {

using html::Markup;
using html::Safe;

// As a content security policy names an inline script or style: 'sha256-…'.
std::string source_hash(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> text64{};
  const int length = EVP_EncodeBlock(text64.data(), digest.data(), static_cast<int>(size));
  return fmt::format("'sha256-{}'",
                     std::string_view(reinterpret_cast<const char*>(text64.data()), static_cast<std::size_t>(length)));
}

std::string_view icon_colour(model::Verdict verdict) {
  switch (verdict) {
    case model::Verdict::kPassed:
      return "%230a7d4f";
    case model::Verdict::kInterrupted:
      return "%23a86400";
    default:
      return "%23c2321f";
  }
}

void put_head(Markup& page, const model::RunResult& run, std::string_view style, std::string_view script) {
  // 'none' for everything but the parts of this file itself; images may only be written in place (the icon).
  page.put(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; style-src {}; "
      "img-src data:; base-uri 'none'; form-action 'none'\">\n",
      Safe{source_hash(script)}, Safe{source_hash(style)});
  page.raw(
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"robots\" content=\"noindex\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"generator\" content=\"muster\">\n");
  page.put("<title>{}: {}</title>\n", model::to_text(run.verdict),
           run.job.empty() ? "load test" : std::string_view(run.job));
  page.put(
      "<link rel=\"icon\" href=\"data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 "
      "16%22%3E%3Ccircle cx=%228%22 cy=%228%22 r=%227%22 fill=%22{}%22/%3E%3C/svg%3E\">\n",
      Safe{icon_colour(run.verdict)});
  page.put("<style>{}</style>\n</head>\n<body>\n", Safe{style});
}

// Filled by the scripts; without them only the sentence in <noscript> shows.
void put_charts(Markup& page) {
  html::put_section(page, "timeline", "Over time");
  page.raw(
      "<noscript><p class=\"about\">The charts are drawn by a script in this file, and scripts are off here. All "
      "tables "
      "work without.</p></noscript>\n"
      "<div id=\"charts\" hidden>\n<div class=\"tools\">\n"
      "<label>Show <select id=\"scope\"></select></label>\n"
      "<label><input type=\"checkbox\" id=\"log-scale\"> logarithmic latency</label>\n"
      "<button type=\"button\" id=\"reset\" disabled>Show all</button>\n</div>\n"
      "<div id=\"stack\" tabindex=\"0\" role=\"group\" aria-label=\"Charts over time\" "
      "aria-describedby=\"keys\"></div>\n"
      "<p id=\"keys\" class=\"about\">Drag across a chart to zoom in; double-click or <kbd>Esc</kbd> shows all. By "
      "keyboard: "
      "<kbd>←</kbd> <kbd>→</kbd> move the line, <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>Shift</kbd> with <kbd>←</kbd> "
      "<kbd>→</kbd> moves along.</p>\n"
      "<p id=\"readout\" class=\"unseen\" aria-live=\"polite\"></p>\n</div>\n");
  html::end_section(page);
  html::put_section(page, "distribution", "Distribution of latency");
  page.raw(
      "<noscript><p class=\"about\">See the columns p50 to max of the tables.</p></noscript>\n"
      "<div id=\"spread\" hidden></div>\n");
  html::end_section(page);
}

void put_contents(Markup& page, const Markup& body) {
  page.raw("<nav aria-label=\"Contents\">");
  for (const std::string& id : body.anchors()) page.put("<a href=\"#{}\">{}</a>", id, id);
  page.raw("</nav>\n");
}

}  // namespace

std::string html_report(const RunInfo& info, const model::RunResult& result, const Comparison* comparison,
                        const std::vector<std::pair<std::string, std::string>>& host) {
  const std::string script = html::script();
  const html::TimelineData data = html::timeline_data(result);
  const Totals sum = totals(result);

  Markup body;
  html::put_marks(body, result);
  html::put_figures(body, result, sum);
  html::put_thresholds(body, result);
  if (comparison != nullptr) html::put_comparison(body, *comparison);
  if (sum.requests > 0) put_charts(body);
  html::put_workflows(body, result, data);
  html::put_steps(body, result, data);
  html::put_phases(body, result);
  html::put_checks(body, result);
  html::put_errors(body, result, sum);
  html::put_metrics(body, result);
  html::put_tagged(body, result);
  html::put_notes(body, result);
  html::put_environment(body, info, result, host);
  html::put_source(body, info);

  Markup page;
  put_head(page, result, html::style_sheet(), script);
  page.raw("<main>\n");
  html::put_verdict(page, result, comparison);
  put_contents(page, body);
  page.raw(body.take());
  page.put("<footer>Made by muster {}. This file needs no network and asks for nothing.</footer>\n</main>\n",
           result.version);
  page.put("<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
           Safe{html::timeline_json(data, result)}, Safe{script});
  return page.take();
}

}  // namespace muster::report
