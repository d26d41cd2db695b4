/** A count of the provider, whose 100 stands for 100 or more. */
export const upTo99 = (count: number) => (count > 99 ? '99+' : String(count));
