#include "system/atom_type_line.hpp"

#include <cctype>
#include <limits>

#include "kernels/base/error.hpp"
#include "system/text.hpp"

namespace starpmc {

VdwParameters parse_vdw(CombinationRule rule, std::string_view first, std::string_view second,
                        const SourceLine& line) {
  const bool c6_c12 = rule == CombinationRule::geometric_c6_c12;
  const VdwParameters vdw{
      parse_number(first, line.place, c6_c12 ? "c6 (kJ/mol nm^6)" : "sigma (nm)"),
      parse_number(second, line.place, c6_c12 ? "c12 (kJ/mol nm^12)" : "epsilon (kJ/mol)")};
  if (vdw.first < 0 || vdw.second < 0) {
    throw InputError(line.place, "a van der Waals parameter is negative", line.text,
                     "sigma and epsilon (or c6 and c12) are zero or positive");
  }
  return vdw;
}

AtomType parse_atom_type(CombinationRule rule, std::span<const std::string_view> words,
                         const SourceLine& line) {
  // As GROMACS tells the variants apart: by where the one-letter particle type stands.
  const auto is_particle = [&](std::size_t i) {
    return i < words.size() && words[i].size() == 1 &&
           std::isalpha(static_cast<unsigned char>(words[i][0]));
  };
  const std::size_t particle = is_particle(5) ? 5 : is_particle(3) ? 3 : 4;
  if (!is_particle(particle) || words.size() < particle + 3) {
    throw InputError(line.place, "a line of [ atomtypes ] has no particle type (A, D or V)",
                     line.text, "write 'name at.num mass charge ptype sigma epsilon'");
  }
  AtomType type;
  type.name = words[0];
  const bool number_alone = particle == 4 && !std::isalpha(static_cast<unsigned char>(words[1][0]));
  if (particle == 5 || number_alone) {
    type.atomic_number = static_cast<int>(parse_integer(
        words[particle - 3], line.place, "the atomic number", 0, std::numeric_limits<int>::max()));
  }
  type.mass = parse_number(words[particle - 2], line.place, "the mass (g/mol)");
  type.charge = parse_number(words[particle - 1], line.place, "the charge (e)");
  const char kind = static_cast<char>(std::toupper(static_cast<unsigned char>(words[particle][0])));
  if (kind != 'A' && kind != 'D' && kind != 'V') {
    throw InputError(line.place, "the particle type is not supported", words[particle],
                     "use A (atom) or V or D (virtual site)");
  }
  type.is_virtual = kind != 'A';
  type.vdw = parse_vdw(rule, words[particle + 1], words[particle + 2], line);
  type.place = line.place;
  return type;
}

}  // namespace starpmc
