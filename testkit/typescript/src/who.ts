/** The password of every demo account, and of accounts that the kit opens. */
export const PASSWORD = 'Mkopo-demo-1';

/** An account: a demo account by its role, any other by its e-mail address. */
export type Who = 'admin' | 'supervisor' | 'agent' | 'inactive' | (string & {});

/** The e-mail address of an account. */
export function emailOf(who: Who): string {
  return who.includes('@') ? who : `${who}@mkopo.test`;
}
