/** The key of every toast of these screens: a new toast replaces the one before it. */
export const SIGN_IN_TOAST = 'sign-in';
