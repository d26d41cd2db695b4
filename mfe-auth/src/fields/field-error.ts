export interface FieldError<Name extends string> {
  field: Name;
  text: string;
}

export function errorAt<Name extends string>(error: FieldError<Name> | null, field: Name) {
  return error?.field === field ? error.text : undefined;
}
