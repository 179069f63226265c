#include "app/subcommands.hpp"

#include <boost/program_options.hpp>
#include <filesystem>
#include <ostream>
#include <vector>

#include "app/replace_process.hpp"
#include "app/subcommand_options.hpp"
#include "io/energy_terms.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/installation.hpp"
#include "qm/make_engine.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;
namespace options = boost::program_options;

void print_report_help(const options::options_description& described, std::ostream& out) {
  out << "Usage: starpmc report DIR [options]\n\n"
         "Makes one self-contained HTML page of a run's output folder: energies, averages and\n"
         "their errors, radial distribution functions, QM updates, workers, a picture of the box;\n"
         "beside it report-rdf.csv and report-coordination.csv, radial distribution functions and\n"
         "coordination numbers with errors.\n"
         "Of a run that goes on or was interrupted it shows what is there. Of a folder of starpmc\n"
         "profile: the free energy, its images, overlap, convergence, the solute with its first\n"
         "shell.\n\n"
      << described << "\nExample: starpmc report quickstart-output --pairs O2:HW1+HW2 --png\n";
}

fs::path report_script() {
  return installed_file({"STARPMC_REPORT", "report", "src/report", "report.py"}, "starpmc report");
}

}  // namespace

boost::program_options::options_description report_options() {
  options::options_description described("Options");
  auto add = described.add_options();
  add("output", options::value<std::string>(), "page to write; DIR/report.html by default");
  add("overwrite", "replace files that are no reports, too");
  add("atoms", options::value<std::string>(),
      "atoms of the QM molecule whose radial distribution functions are shown: names (O7), "
      "elements "
      "(O) or numbers from 1, with commas; by default up to six that are neither carbon nor "
      "hydrogen");
  add("pairs", options::value<std::string>(),
      "pairs of sites, with commas, of report-rdf.csv and report-coordination.csv: O7:OW is OW "
      "around O7, C2+C4:HW1+HW2 both of each; names or elements, behind that of the molecule where "
      "several have them (solute.O:SOL.O); by default all of ions and solutes");
  add("png", "write every plot as report-NAME.png beside the page, too");
  add("xtc", "write trajectory.xtc beside each trajectory.h5md, too");
  add("help", "show this text");
  return described;
}

int run_report(std::span<const std::string> arguments, std::ostream& out) {
  const options::options_description described = report_options();
  const bool names_folder = !arguments.empty() && !arguments[0].starts_with('-');
  const options::variables_map values = parse_subcommand(
      "starpmc report", described, names_folder ? arguments.subspan(1) : arguments);
  if (values.contains("help")) {
    print_report_help(described, out);
    return 0;
  }
  if (!names_folder) {
    throw InputError("starpmc report", "no folder is named", "",
                     "starpmc report DIR, DIR the output folder of a run or a profile");
  }
  // -B: nothing is written beside the script.
  std::vector<std::string> command{find_worker_python({}).string(), "-B", report_script().string(),
                                   "--program-version", STARPMC_VERSION};
  for (const char* name : {"output", "atoms", "pairs"}) {
    if (!values.contains(name)) continue;
    command.push_back("--" + std::string(name) + "=" + values[name].as<std::string>());
  }
  for (const char* name : {"png", "xtc", "overwrite"}) {
    if (values.contains(name)) command.push_back("--" + std::string(name));
  }
  for (std::size_t i = 0; i < EnergyTerms::names.size(); ++i) {
    command.emplace_back("--term");
    for (const auto& column : {EnergyTerms::names, EnergyTerms::titles, EnergyTerms::units}) {
      command.emplace_back(column[i]);
    }
  }
  command.insert(command.end(), {"--", arguments[0]});
  out.flush();
  replace_process(std::move(command));
}

}  // namespace starpmc
