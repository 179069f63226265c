#include "system/solute_elements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/base/error.hpp"
#include "system/element_names.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

constexpr double mass_tolerance = 0.6;          // g/mol; the tables differ in the second decimal
constexpr double heaviest_hydrogen = 4.1;       // deuterium, repartitioned masses
constexpr double most_repartitioned = 3 * 3.1;  // from a methyl's carbon to its hydrogens

constexpr std::string_view stated_place = "qm.elements";
constexpr std::string_view stated_form = "write NAME=ELEMENT, for example C1=C, ZN=Zn";

/// The elements that the user states, one for each atom; null where none is.
std::vector<const Element*> stated_elements(const MoleculeDefinition& molecule,
                                            std::span<const std::string> stated) {
  std::vector<const Element*> elements(molecule.atoms.size());
  for (const std::string& text : stated) {
    const std::size_t equals = text.find('=');
    const std::string key(trim(std::string_view(text).substr(0, equals)));
    const Element* element =
        equals == std::string::npos
            ? nullptr
            : element_by_symbol(trim(std::string_view(text).substr(equals + 1)));
    if (element == nullptr) {
      throw InputError(stated_place, "not an atom and its element", text, stated_form);
    }
    bool found = false;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (molecule.atoms[i].name != key && std::to_string(i + 1) != key) {
        continue;
      }
      found = true;
      if (elements[i] != nullptr && elements[i] != element) {
        throw InputError(stated_place, fmt::format("atom {} is given two elements", i + 1), text,
                         "keep one");
      }
      elements[i] = element;
    }
    if (!found) {
      throw InputError(stated_place,
                       fmt::format("molecule {} has no atom of this name or number", molecule.name),
                       key, fmt::format("use the names of its [ atoms ] ({})", molecule.place));
    }
  }
  return elements;
}

bool contains(std::span<const Element* const> choice, const Element* element) {
  return std::find(choice.begin(), choice.end(), element) != choice.end();
}

bool mass_agrees(const Element& element, double mass, bool has_number) {
  if (mass <= 0 || std::abs(mass - element.mass) < mass_tolerance) {
    return true;
  }
  if (element.atomic_number == 1) {
    return mass > element.mass && mass < heaviest_hydrogen;
  }
  return has_number && mass < element.mass && mass > element.mass - most_repartitioned;
}

/// All that is known of the element of one atom.
class Evidence {
 public:
  Evidence(const MoleculeDefinition& molecule, std::size_t index, const AtomType& type,
           std::span<const NamedAtom> coordinates)
      : molecule_(molecule),
        index_(index),
        atom_(molecule.atoms[index]),
        type_(type),
        number_(element_by_number(type.atomic_number)) {
    const std::vector<const Element*> in_name = elements_in_name(atom_.name);
    names_ = in_name;
    found_.push_back(fmt::format("the name {} stands for {}", atom_.name, element_choice(in_name)));
    for (const NamedAtom& named : coordinates) {
      add(named);
    }
    if (type.atomic_number > 0) {
      found_.push_back(fmt::format("type {} ({}) has the atomic number {} ({})", type.name,
                                   type.place, type.atomic_number,
                                   number_ == nullptr ? "unknown" : number_->symbol));
    }
    if (atom_.mass > 0) {
      const Element* by_mass = element_by_mass(atom_.mass);
      found_.push_back(fmt::format("the mass is {:g} g/mol ({})", atom_.mass,
                                   by_mass == nullptr ? "no element's" : by_mass->symbol));
    }
  }

  const Element* element() const {
    const Element* element = listed_ != nullptr   ? listed_
                             : number_ != nullptr ? number_
                                                  : by_name();
    if (element == nullptr) {
      refuse("is not told");
    }
    const bool number_agrees = number_ == nullptr || number_ == element;
    // An .xyz file and the type that agree need no name; a name that stands for nothing says
    // nothing.
    const bool names_agree = (listed_ != nullptr && number_ != nullptr) ||
                             (names_.empty() && !names_differ_) || contains(names_, element);
    if (!number_agrees || !names_agree || !mass_agrees(*element, atom_.mass, number_ != nullptr)) {
      refuse("is in doubt");
    }
    return element;
  }

 private:
  void add(const NamedAtom& named) {
    if (named.element != nullptr) {
      listed_ = named.element;
      found_.push_back(fmt::format("{} says {}", named.place, listed_->symbol));
      return;
    }
    const std::vector<const Element*> choice = elements_in_name(named.name);
    if (named.name != atom_.name) {
      found_.push_back(fmt::format("the name {} ({}) stands for {}", named.name, named.place,
                                   element_choice(choice)));
    }
    if (names_.empty()) {
      names_ = choice;
    } else if (!choice.empty()) {
      std::erase_if(names_, [&](const Element* e) { return !contains(choice, e); });
      names_differ_ = names_.empty();
    }
  }

  /// The name's element, or the one among those it can stand for that has the mass.
  const Element* by_name() const {
    if (names_.size() == 1) {
      return names_.front();
    }
    const Element* found = nullptr;
    for (const Element* element : names_) {
      if (atom_.mass > 0 && mass_agrees(*element, atom_.mass, false)) {
        if (found != nullptr) {
          return nullptr;
        }
        found = element;
      }
    }
    return found;
  }

  [[noreturn]] void refuse(std::string_view how) const {
    const Element* likely = listed_ != nullptr ? listed_
                            : names_.empty()   ? number_
                                               : names_.front();
    throw InputError(
        atom_.place,
        fmt::format("the element of atom {} ({}) of the QM molecule {} {}: {}", index_ + 1,
                    atom_.name, molecule_.name, how, fmt::join(found_, "; ")),
        "",
        fmt::format("correct what is wrong (type, name, mass, coordinates), give the type its "
                    "at.num in [ atomtypes ], or state the element: qm.elements = {}={}",
                    atom_.name, likely == nullptr ? "C" : likely->symbol));
  }

  const MoleculeDefinition& molecule_;
  std::size_t index_;
  const TopologyAtom& atom_;
  const AtomType& type_;
  const Element* number_ = nullptr;
  const Element* listed_ = nullptr;
  std::vector<const Element*> names_;  ///< what all names can stand for
  bool names_differ_ = false;          ///< no element is left
  std::vector<std::string> found_;
};

}  // namespace

std::vector<const Element*> solute_elements(const MoleculeDefinition& molecule,
                                            std::span<const AtomType* const> types,
                                            std::span<const std::vector<NamedAtom>> coordinates,
                                            std::span<const std::string> stated) {
  std::vector<const Element*> elements = stated_elements(molecule, stated);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] == nullptr) {
      elements[i] = Evidence(molecule, i, *types[i], coordinates[i]).element();
    }
  }
  return elements;
}

}  // namespace starpmc
