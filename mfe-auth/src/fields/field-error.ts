/** The validation error of one field of a form. */
export interface FieldError<Name extends string> {
  field: Name;
  text: string;
}

/** The text of the error, if it is about this field. */
export function errorAt<Name extends string>(error: FieldError<Name> | null, field: Name) {
  return error?.field === field ? error.text : undefined;
}
