import { textFrom } from '../api/wire';
import { kitTexts } from '../language/kit-texts';
import { type Language, LANGUAGES } from '../language/language';

/** The roles known across the product. */
export const ROLES = ['admin', 'agent', 'supervisor'] as const;
export type Role = (typeof ROLES)[number];

/** The signed-in user as the browser keeps it under `user`. */
export interface SessionUser {
  /** Always 1 after sign-in (REQ-071). */
  id: number;
  username?: string | undefined;
  name?: string | undefined;
  email?: string | undefined;
  /**
   * `admin` after sign-in (REQ-072), and the server's where the screens are live; a stored user may hold
   * another, or none.
   */
  role?: Role | undefined;
  /** An image address derived from the username. */
  avatar?: string | undefined;
  /** This person's preferences, where the screens are live. */
  language?: Language | undefined;
  timeZone?: string | undefined;
}

/** The user's name on screens (REQ-011, REQ-047). */
export function displayName(user: Pick<SessionUser, 'name' | 'username'> | null | undefined): string {
  return user?.name || user?.username || kitTexts().user;
}

/** The first letter of a name. */
export function initialOf(name: string): string {
  return Array.from(textFrom(name).trim().toUpperCase())[0] ?? '?';
}

/** The user to store after a sign-in with this username and e-mail address. */
export function signedInUser(username: string, email: string): SessionUser {
  return { id: 1, username, email, role: 'admin', avatar: avatarOf(username) };
}

/** A role of the server as one that is known here. */
export function roleFrom(role: unknown): Role | undefined {
  return ROLES.find((known) => known === role);
}

/** The stored user, or `null` if there is none or it can't be read. */
export function parseUser(stored: string | null): SessionUser | null {
  if (!stored) return null;
  try {
    const value: unknown = JSON.parse(stored);
    return typeof value === 'object' && value !== null ? readUser(value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function readUser(stored: Record<string, unknown>): SessionUser {
  const { id, language } = stored;
  return {
    id: typeof id === 'number' ? id : 1,
    username: textOrNone(stored.username),
    name: textOrNone(stored.name),
    email: textOrNone(stored.email),
    role: roleFrom(stored.role),
    avatar: textOrNone(stored.avatar),
    language: LANGUAGES.find((known) => known === language),
    timeZone: textOrNone(stored.timeZone),
  };
}

function textOrNone(value: unknown) {
  return typeof value === 'string' ? value : undefined;
}

/** A data: address, because the page's policy allows no images of other origins. */
function avatarOf(username: string): string {
  const initial = initialOf(username);
  const blue = Array.from(username).reduce(
    (sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 50,
    0,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="hsl(${195 + blue} 60% 36%)"/><text x="32" y="33" fill="#fff" font-family="sans-serif" font-size="30" text-anchor="middle" dominant-baseline="central">${escapeXml(initial)}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

function escapeXml(text: string) {
  return text.replace(/[<>&'"]/g, (letter) => `&#${letter.codePointAt(0)};`);
}
