import { expect, test } from 'vitest';
import { displayName, initialOf, parseUser, signedInUser } from './session-user';

test('the name on screens is the name, else the username, else a word for one', () => {
  expect(displayName({ name: 'Achieng Otieno', username: 'achieng' })).toBe('Achieng Otieno');
  expect(displayName({ name: '', username: 'achieng' })).toBe('achieng');
  for (const user of [{}, null, undefined]) expect(displayName(user)).toBe('User');
});

test('an initial is the first letter in upper case, and a question mark without one', () => {
  expect(['achieng', '  ímani', '', '  '].map(initialOf)).toEqual(['A', 'Í', '?', '?']);
});

test('a stored user has what is of the right type, and the id 1 without one', () => {
  const stored = { id: 7, username: 'achieng', name: 8, email: 'a@b.c', language: 'sw', timeZone: 'UTC' };
  expect(parseUser(JSON.stringify(stored))).toEqual({
    ...stored,
    name: undefined,
    role: undefined,
    avatar: undefined,
  });
  expect(parseUser('{"id":"7","language":"fr"}')).toMatchObject({ id: 1, language: undefined });
  for (const nothing of [null, '', 'null', '{', '7', '"Achieng"']) expect(parseUser(nothing)).toBeNull();
});

test('a picture has the escaped initial, on a colour that the username decides', () => {
  const svg = (username: string) => decodeURIComponent(signedInUser(username, 'a@b.c').avatar ?? '');
  expect(svg('<x>')).toContain('>&#60;</text></svg>');
  expect(svg('ab')).toMatch(/^data:image\/svg\+xml,<svg .*fill="hsl\(200 60% 36%\)".*>A<\/text><\/svg>$/);
});
