// The timeline as a picture.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "io/timeline.hpp"

namespace starpmc {
namespace {

constexpr double kRight = 60;
constexpr double kTop = 34;
constexpr double kPlotWidth = 1150;
constexpr double kLegendRow = 20;
constexpr std::size_t kMostColumns = 1150;
/// Of all lanes together: bounds the size of the file, and the memory it is made in.
constexpr std::size_t kMostCells = 60000;
/// Tasks of so many columns are drawn for themselves.
constexpr double kOwnColumns = 4;
constexpr double kLeastShare = 1.0 / 64;  ///< of a column's height that is drawn

std::string xml_text(const std::string& text) {
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
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return result;
}

/// No more than `most` characters; UTF-8 stays whole.
std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t size = most - 3;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size) + "...";
}

/// Distance of the axis' marks: 1, 2 or 5 times a power of ten, about ten marks.
double mark_distance(double seconds) {
  const double rough = seconds / 10;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

class Picture {
 public:
  explicit Picture(const Timeline& timeline)
      : timeline_(timeline),
        lanes_(std::max<std::size_t>(timeline.workers().size(), 1)),
        columns_(std::clamp<std::size_t>(kMostCells / lanes_, 8, kMostColumns)),
        pitch_(lanes_ <= 24 ? 30 : 14),
        left_(left_margin(timeline)),
        lane_(timeline.workers().size(), Lane{}),
        used_(timeline.codelets().size(), false) {
    end_ns_ = std::max<std::int64_t>(timeline.end_ns(), 1);
    for (Lane& lane : lane_) {
      lane.busy.assign(columns_ * timeline.codelets().size(), 0);
    }
    timeline.for_each([this](const Timeline::Visit& visit) { add(visit); });
  }

  void write(CheckedFile& file) {
    file_ = &file;
    const double legend = kLegendRow * static_cast<double>(legend_rows());
    const double height = bottom() + 46 + legend + 8;
    const double width = left_ + kPlotWidth + kRight;
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n",
        width, height);
    put("<title>Tasks of each worker</title>\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#ffffff\"/>\n");
    put("<text x=\"{:.0f}\" y=\"20\" text-anchor=\"end\" fill=\"#555\">busy</text>\n",
        left_ + kPlotWidth + kRight - 6);
    axis();
    for (std::size_t lane = 0; lane < lane_.size(); ++lane) draw(lane);
    legend_at(bottom() + 46);
    put("</svg>\n");
  }

 private:
  struct Own {
    std::size_t codelet;
    TimelineTask task;
    std::int64_t start_ns;
    std::int64_t end_ns;
  };
  struct Lane {
    std::vector<float> busy;  ///< columns x codelets: shares of the narrow tasks
    std::vector<Own> own;     ///< the wide ones; at most columns_ / kOwnColumns + 1
    double busy_ns = 0;
  };

  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    file_->write(text_);
  }

  static constexpr std::size_t kMostCharacters = 27;
  static double left_margin(const Timeline& timeline) {
    std::size_t most = 0;
    for (const TimelineWorker& worker : timeline.workers()) {
      most = std::max(most, std::min(worker.name.size(), kMostCharacters));
    }
    constexpr double kCharacter = 7;
    return 24 + kCharacter * static_cast<double>(most);
  }

  double column_ns() const { return static_cast<double>(end_ns_) / static_cast<double>(columns_); }
  double x(double ns) const { return left_ + kPlotWidth * ns / static_cast<double>(end_ns_); }
  double x_of_column(std::size_t column) const {
    return left_ + kPlotWidth * static_cast<double>(column) / static_cast<double>(columns_);
  }
  double top(std::size_t lane) const { return kTop + pitch_ * static_cast<double>(lane); }
  double lane_height() const { return pitch_ * 0.8; }
  double bottom() const { return kTop + pitch_ * static_cast<double>(lanes_); }

  void add(const Timeline::Visit& visit) {
    Lane& lane = lane_[visit.worker];
    const auto start = static_cast<double>(visit.shown_start_ns);
    const double end =
        std::min(static_cast<double>(visit.shown_end_ns), static_cast<double>(end_ns_));
    if (end <= start) return;
    used_[visit.codelet] = true;
    lane.busy_ns += end - start;
    if (end - start >= kOwnColumns * column_ns()) {
      lane.own.push_back({visit.codelet, visit.task, visit.shown_start_ns, visit.shown_end_ns});
      return;
    }
    const auto column_of = [&](double ns) {
      return std::min(columns_ - 1, static_cast<std::size_t>(ns / column_ns()));
    };
    for (std::size_t column = column_of(start); column <= column_of(end); ++column) {
      const double left = static_cast<double>(column) * column_ns();
      const double part = std::min(end, left + column_ns()) - std::max(start, left);
      if (part <= 0) continue;
      lane.busy[column * used_.size() + visit.codelet] += static_cast<float>(part / column_ns());
    }
  }

  void axis() {
    const double seconds = static_cast<double>(end_ns_) * 1e-9;
    const double distance = mark_distance(seconds);
    const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(distance))));
    for (int i = 0; i * distance <= seconds * (1 + 1e-9); ++i) {
      const double at = x(i * distance * 1e9);
      put("<path d=\"M{0:.1f} {1:.0f}V{2:.0f}\" stroke=\"#ddd\"/>"
          "<text x=\"{0:.1f}\" y=\"{3:.0f}\" text-anchor=\"middle\" fill=\"#333\">{4:.{5}f}"
          "</text>\n",
          at, kTop - 6, bottom() + 2, bottom() + 16, i * distance, decimals);
    }
    put("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\" fill=\"#333\">time (s)</text>\n",
        left_ + kPlotWidth / 2, bottom() + 34);
  }

  std::string colour(std::size_t codelet) const {
    return fmt::format("#{:06x}", timeline_.codelets()[codelet].colour & 0xFFFFFFU);
  }

  void draw(std::size_t index) {
    const Lane& lane = lane_[index];
    const std::string& name = timeline_.workers()[index].name;
    const double share = lane.busy_ns / static_cast<double>(end_ns_);
    put("<g><title>{}</title>\n", xml_text(name));
    put("<rect x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.1f}\" fill=\"#f1f1f1\"/>\n",
        left_, top(index), kPlotWidth, lane_height());
    const double text_y = top(index) + lane_height() / 2 + 4;
    put("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>"
        "<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"#555\">{:.0f} %</text>\n",
        left_ - 8, text_y, xml_text(shortened(name, kMostCharacters)),
        left_ + kPlotWidth + kRight - 6, text_y, 100 * share);
    draw_columns(index);
    for (const Own& own : lane.own) draw_own(index, own);
    put("</g>\n");
  }

  /// The narrow tasks: codelets above each other, drawn from the top of the pile down, each as one
  /// outline over the others.
  void draw_columns(std::size_t index) {
    const Lane& lane = lane_[index];
    std::vector<float> height(columns_, 0);
    for (std::size_t column = 0; column < columns_; ++column) {
      for (std::size_t c = 0; c < used_.size(); ++c) height[column] += share(lane, column, c);
    }
    for (std::size_t c = used_.size(); c-- > 0;) {
      bool any = false;
      for (std::size_t column = 0; column < columns_ && !any; ++column) {
        any = share(lane, column, c) > 0;
      }
      if (any) outline(index, height, colour(c));
      for (std::size_t column = 0; column < columns_; ++column) {
        height[column] -= share(lane, column, c);
      }
    }
  }

  float share(const Lane& lane, std::size_t column, std::size_t codelet) const {
    const float value = lane.busy[column * used_.size() + codelet];
    return value < static_cast<float>(kLeastShare) ? 0 : value;
  }

  void outline(std::size_t index, const std::vector<float>& height, const std::string& fill) {
    const double base = top(index) + lane_height();
    put("<path fill=\"{}\" d=\"M{:.1f} {:.1f}", fill, left_, base);
    std::int64_t drawn = 0;  // in tenths of a pixel
    for (std::size_t column = 0; column <= columns_; ++column) {
      const double share = column == columns_ ? 0 : std::clamp<double>(height[column], 0, 1);
      const auto next = static_cast<std::int64_t>(std::llround(10 * share * lane_height()));
      if (next == drawn) continue;
      put("H{:.1f}V{:.1f}", x_of_column(column), base - 0.1 * static_cast<double>(next));
      drawn = next;
    }
    put("Z\"/>\n");
  }

  void draw_own(std::size_t index, const Own& own) {
    std::string meaning = timeline_.codelets()[own.codelet].name;
    if (own.task.chain != TimelineTask::kNone) {
      meaning += fmt::format(", chain {}", own.task.chain);
    }
    if (own.task.window != TimelineTask::kNone) {
      meaning += fmt::format(", window {}", own.task.window);
    }
    const double from = x(static_cast<double>(own.start_ns));
    const double to = std::min(x(static_cast<double>(own.end_ns)), left_ + kPlotWidth);
    put("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\">"
        "<title>{}, {:.6f} s to {:.6f} s</title></rect>\n",
        from, top(index), to - from, lane_height(), colour(own.codelet), xml_text(meaning),
        static_cast<double>(own.task.started_ns) * 1e-9,
        static_cast<double>(own.task.ended_ns) * 1e-9);
  }

  static constexpr std::size_t kLegendColumns = 6;
  std::size_t legend_rows() const {
    const auto entries = static_cast<std::size_t>(std::ranges::count(used_, true)) + 1;
    return (entries + kLegendColumns - 1) / kLegendColumns;
  }

  void legend_at(double y) {
    std::size_t entry = 0;
    const auto add_entry = [&](const std::string& fill, const std::string& name) {
      const double left =
          left_ + kPlotWidth / kLegendColumns * static_cast<double>(entry % kLegendColumns);
      const std::size_t row = entry / kLegendColumns;
      const double at = y + kLegendRow * static_cast<double>(row);
      put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>"
          "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
          left, at, fill, left + 18, at + 10.5, xml_text(name));
      ++entry;
    };
    for (std::size_t c = 0; c < used_.size(); ++c) {
      if (used_[c]) add_entry(colour(c), timeline_.codelets()[c].name);
    }
    add_entry("#f1f1f1", "idle");
  }

  const Timeline& timeline_;
  std::size_t lanes_;
  std::size_t columns_;
  double pitch_;  ///< of lanes, in pixels
  double left_;   ///< where the lanes begin
  std::int64_t end_ns_ = 1;
  std::vector<Lane> lane_;
  std::vector<bool> used_;  ///< by codelet
  CheckedFile* file_ = nullptr;
  std::string text_;
};

}  // namespace

void write_timeline_svg(const Timeline& timeline, const std::filesystem::path& path) {
  Picture picture(timeline);
  write_long_file_atomically(path, [&](CheckedFile& file) { picture.write(file); });
}

}  // namespace starpmc
