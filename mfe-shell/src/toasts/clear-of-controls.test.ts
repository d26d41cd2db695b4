import { expect, test } from 'vitest';
import { offsetClearOf } from './clear-of-controls';

const HEIGHT = 667;
/** A toast of a narrow screen in its place at the top. */
const TOAST = { left: 16, right: 359, top: 68, bottom: 118 };
const control = (top: number, left = 16, right = 359) => ({ left, right, top, bottom: top + 40 });

test.for([
  ['without controls', [], 0],
  ['with one above it', [control(20)], 0],
  ['with one below it', [control(118)], 0],
  ['with one beside it', [control(80, 360, 375)], 0],
  ['with one in its place', [control(80)], 80 + 40 + 12 - 68],
  ['with a second one where it moves to', [control(150), control(80)], 150 + 40 + 12 - 68],
  ['with a second one that leaves room', [control(80), control(182)], 80 + 40 + 12 - 68],
  ['with no room below', [80, 140, 200, 260, 320, 380, 440, 500, 560, 620].map((top) => control(top)), 0],
] as const)('a toast %s', ([, controls, offset]) => {
  expect(offsetClearOf(TOAST, controls, HEIGHT)).toBe(offset);
});
