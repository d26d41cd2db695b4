import type { components } from 'mkopo-contract';

/** A body of the contract by its name, such as `Schema<'PendingLoan'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];
