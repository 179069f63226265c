/* Step sizes follow the acceptance of the last interval, by at most a factor of two either way.
   Included by C++ and OpenCL C; TUNING_STATE is the qualified pointer type of the chain state. */
STARPMC_INLINE double clamp_between(double value, double lowest, double highest) {
  return value < lowest ? lowest : (value > highest ? highest : value);
}

STARPMC_INLINE void tune_step_sizes_of(StepTuning tuning, TUNING_STATE state) {
  if (!tuning.active || state[STATE_PROPOSED] == 0) return;
  const double acceptance = state[STATE_ACCEPTED] / state[STATE_PROPOSED];
  const double factor = clamp_between(acceptance / tuning.target_acceptance, 0.5, 2.0);
  /* a size of 0 is a degree of freedom held fixed */
  if (state[STATE_MAXIMUM_TRANSLATION] > 0) state[STATE_MAXIMUM_TRANSLATION] =
      clamp_between(state[STATE_MAXIMUM_TRANSLATION] * factor, 1e-4, tuning.largest_translation);
  if (state[STATE_MAXIMUM_HALF_TURNS] > 0) state[STATE_MAXIMUM_HALF_TURNS] =
      clamp_between(state[STATE_MAXIMUM_HALF_TURNS] * factor, 1e-4, tuning.largest_half_turns);
  state[STATE_ACCEPTED] = 0;
  state[STATE_PROPOSED] = 0;
}
