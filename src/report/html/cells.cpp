#include <fmt/chrono.h>
#include <fmt/format.h>

#include "report/figures.h"
#include "report/html/sections.h"

namespace muster::report::html {

void put_section(Markup& page, std::string_view id, std::string_view title, std::string_view about) {
  page.add_anchor(id);
  page.put("<section id=\"{}\" class=\"card\" aria-labelledby=\"{}-title\">\n<h2 id=\"{}-title\">{}</h2>\n", id, id, id,
           title);
  if (!about.empty()) page.put("<p class=\"about\">{}</p>\n", about);
}

void end_section(Markup& page) {
  page.raw("</section>\n");
}

void put_table(Markup& page, std::string_view label, const std::vector<std::string_view>& columns) {
  page.put(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table "
      "class=\"sortable{}\">\n<thead><tr>",
      label, columns.size() <= 4 ? " narrow" : "");
  for (std::string_view column : columns) {
    const bool number = column.starts_with('#');
    if (number) column.remove_prefix(1);
    page.put("<th scope=\"col\"{}>{}</th>", Safe{number ? " class=\"num\"" : ""}, column);
  }
  page.raw("</tr></thead>\n<tbody>\n");
}

void end_table(Markup& page, std::size_t rows_left_out) {
  page.raw("</tbody>\n</table>\n</div>\n");
  if (rows_left_out > 0) {
    page.put("<p class=\"about\">and {} more; the JSON summary (--out json=FILE) has all of them</p>\n",
             plural(rows_left_out, "row"));
  }
}

void put_cell(Markup& page, double number, std::string_view text, std::string_view kind) {
  page.put("<td class=\"num{}{}\" data-v=\"{:.9g}\">{}</td>", kind.empty() ? "" : " ", kind, number, text);
}

void put_time(Markup& page, base::Duration time) {
  put_cell(page, base::seconds(time), short_time(time, true));
}

void put_count(Markup& page, std::uint64_t count) {
  put_cell(page, static_cast<double>(count), grouped(count));
}

void put_failed(Markup& page, std::uint64_t failed, std::uint64_t all) {
  const double share = all > 0 ? static_cast<double>(failed) / static_cast<double>(all) : 0;
  put_cell(page, share, percentage(failed, all), failed > 0 ? "bad" : "");
}

std::string plural(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", grouped(count), one, count == 1 ? "" : "s");
}

std::string utc_time(base::Duration since_1970) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(since_1970).count();
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(whole)));
}

}  // namespace muster::report::html
