import 'mfe-kit/testing/setup';
import { configure } from '@testing-library/react';

// As long as `expect.poll` waits (vitest.config.ts).
configure({ asyncUtilTimeout: 3_000 });
