/** What is wrong with one field of a form. */
export interface FieldError<Name extends string> {
  field: Name;
  text: string;
}

/** The text for one field, where the error is about it. */
export function errorAt<Name extends string>(error: FieldError<Name> | null, field: Name) {
  return error?.field === field ? error.text : undefined;
}
