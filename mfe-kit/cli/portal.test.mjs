import { expect, test } from 'vitest';
import { isPrivate, portalAt } from './portal.mjs';

test.each([
  ['https://portal.example.com', true],
  ['https://10.0.0.4', true],
  ['http://127.0.0.1:8080', true],
  ['http://127.8.9.10', true],
  ['http://[::1]:8080', true],
  ['http://localhost:8080', true],
  ['HTTP://LOCALHOST', true],
  ['http://pr-7.localhost:8080', true],
  ['http://portal.example.com', false],
  ['http://provider:8080', false],
  ['http://10.0.0.4:8080', false],
  ['http://0.0.0.0:8080', false],
  ['http://[::2]:8080', false],
  ['http://[::ffff:10.0.0.4]', false],
  ['http://localhost.example.com', false],
  ['http://notlocalhost', false],
  ['http://127.0.0.1.example.com', false],
  ['http://127.example.com', false],
  ['http://127.0.0.1@portal.example.com', false],
  ['http://localhost:1@portal.example.com', false],
])('nobody on the way to %s can read what is sent: %s', (address, expected) => {
  expect(isPrivate(portalAt(address))).toBe(expected);
});
