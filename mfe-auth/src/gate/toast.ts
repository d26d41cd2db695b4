/** The key of every toast of these screens: the latest stands in the place of the one before. */
export const GATE_TOAST = 'sign-in';
