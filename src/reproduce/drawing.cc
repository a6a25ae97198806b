// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/drawing.h"

#include <fmt/format.h>

#include <charconv>

namespace tw::reproduce {
namespace {

constexpr double kRadius = 4;
constexpr double kRing = 8;

std::string_view anchor_name(Anchor anchor) {
  return anchor == Anchor::Start ? "start" : anchor == Anchor::Middle ? "middle" : "end";
}

std::string svg_line(const Line& line) {
  std::string points;
  for (const auto& [x, y] : line.points) points += fmt::format("{:.1f},{:.1f} ", x, y);
  if (!points.empty()) points.pop_back();
  return fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", points,
      line.colour, line.width, line.dashed ? " stroke-dasharray=\"5 3\"" : "");
}

std::string svg_spot(const Spot& spot) {
  const std::string paint = fmt::format("fill=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"",
                                        spot.filled ? spot.colour : "#ffffff", spot.colour);
  if (spot.mark == Mark::Ring) {
    return fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"none\" stroke=\"{}\" "
        "stroke-width=\"1.5\"/>\n",
        spot.x, spot.y, kRing, spot.colour);
  }
  if (spot.mark == Mark::Circle) {
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" {}/>\n", spot.x, spot.y,
                       kRadius, paint);
  }
  return fmt::format("<path d=\"M{:.1f} {:.1f}l{} {}l-{} {}l-{} -{}z\" {}/>\n", spot.x,
                     spot.y - kRadius - 1, kRadius + 1, kRadius + 1, kRadius + 1, kRadius + 1,
                     kRadius + 1, kRadius + 1, paint);
}

std::string svg_words(const Words& words) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n",
      words.x, words.y, words.size, anchor_name(words.anchor), words.colour, escaped(words.text));
}

int hex(const std::string& colour, std::size_t at) {
  int value = 0;
  if (colour.size() >= at + 2) {
    std::from_chars(colour.data() + at, colour.data() + at + 2, value, 16);
  }
  return value;
}

std::string rgb(const std::string& colour) {
  return fmt::format("{:.3f} {:.3f} {:.3f}", hex(colour, 1) / 255.0, hex(colour, 3) / 255.0,
                     hex(colour, 5) / 255.0);
}

/// UTF-8 as a PDF string in WinAnsi: what has no place there is "?".
std::string pdf_text(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '(' || c == ')' || c == '\\') {
      result += fmt::format("\\{}", static_cast<char>(c));
    } else if (c < 0x80) {
      result += c < 0x20 ? ' ' : static_cast<char>(c);
    } else if ((c == 0xC2 || c == 0xC3) && i + 1 < text.size()) {
      const unsigned code = ((c & 3u) << 6) | (static_cast<unsigned char>(text[++i]) & 0x3Fu);
      result += fmt::format("\\{:03o}", code);
    } else if ((c & 0xC0) != 0x80) {
      result += '?';
    }
  }
  return result;
}

/// Page content, y turned round.
class PdfContent {
 public:
  explicit PdfContent(double height) : height_(height) {}

  void add(const Line& line) {
    if (line.points.size() < 2) return;
    text_ += fmt::format("{} RG {} w {} 0 d\n", rgb(line.colour), line.width,
                         line.dashed ? "[5 3]" : "[]");
    const char* verb = "m";
    for (const auto& [x, y] : line.points) {
      text_ += fmt::format("{:.1f} {:.1f} {}\n", x, height_ - y, verb);
      verb = "l";
    }
    text_ += "S\n";
  }
  /// Circles are drawn as octagons: at this size nobody sees it.
  void add(const Spot& spot) {
    constexpr double kCircle[8][2] = {{1, 0},  {.71, .71},   {0, 1},  {-.71, .71},
                                      {-1, 0}, {-.71, -.71}, {0, -1}, {.71, -.71}};
    text_ += fmt::format("{} RG {} rg 1.5 w [] 0 d\n", rgb(spot.colour),
                         spot.filled ? rgb(spot.colour) : "1 1 1");
    const std::size_t step = spot.mark == Mark::Diamond ? 2 : 1;
    const double radius = spot.mark == Mark::Ring ? kRing : kRadius;
    for (std::size_t i = 0; i < 8; i += step) {
      text_ += fmt::format("{:.1f} {:.1f} {}\n", spot.x + radius * kCircle[i][0],
                           height_ - spot.y + radius * kCircle[i][1], i == 0 ? "m" : "l");
    }
    text_ += spot.mark == Mark::Ring ? "s\n" : "b\n";
  }
  void add(const Words& words) {
    const double width = 0.5 * words.size * static_cast<double>(words.text.size());
    const double left = words.anchor == Anchor::Start    ? 0
                        : words.anchor == Anchor::Middle ? width / 2
                                                         : width;
    text_ += fmt::format("BT {} rg /F1 {} Tf {:.1f} {:.1f} Td ({}) Tj ET\n", rgb(words.colour),
                         words.size, words.x - left, height_ - words.y, pdf_text(words.text));
  }
  const std::string& text() const { return text_; }

 private:
  double height_;
  std::string text_ = {};
};

}  // namespace

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string svg_of(const Drawing& drawing) {
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" "
      "height=\"{:.0f}\" font-family=\"system-ui, Helvetica, Arial, sans-serif\">\n",
      drawing.width, drawing.height, drawing.width, drawing.height);
  for (const Line& line : drawing.lines) text += svg_line(line);
  for (const Spot& spot : drawing.spots) text += svg_spot(spot);
  for (const Words& words : drawing.words) text += svg_words(words);
  return text + "</svg>\n";
}

std::string pdf_of(const Drawing& drawing) {
  PdfContent content(drawing.height);
  for (const Line& line : drawing.lines) content.add(line);
  for (const Spot& spot : drawing.spots) content.add(spot);
  for (const Words& words : drawing.words) content.add(words);
  const std::vector<std::string> objects{
      "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {:.0f} {:.0f}] /Contents 5 0 R "
                  "/Resources << /Font << /F1 4 0 R >> >> >>",
                  drawing.width, drawing.height),
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
      fmt::format("<< /Length {} >>\nstream\n{}endstream", content.text().size(), content.text())};
  std::string text = "%PDF-1.4\n";
  std::string places = "0000000000 65535 f \n";
  for (std::size_t i = 0; i < objects.size(); ++i) {
    places += fmt::format("{:010} 00000 n \n", text.size());
    text += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
  }
  const std::size_t table = text.size();
  return text +
         fmt::format("xref\n0 {}\n{}trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{}\n%%EOF\n",
                     objects.size() + 1, places, objects.size() + 1, table);
}

}  // namespace tw::reproduce
