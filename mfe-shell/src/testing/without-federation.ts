import { vi } from 'vitest';

// Federation needs a built portal, so every test says itself what `loadBuild` answers.
vi.mock('../slices/federation', () => ({ loadBuild: vi.fn(), WrongShell: class extends Error {} }));
