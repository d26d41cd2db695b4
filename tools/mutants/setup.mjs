import 'mfe-kit/testing/setup';
import { configure } from '@testing-library/react';

// What a change prevents is waited for in vain, by one test or another for most changes.
configure({ asyncUtilTimeout: 3_000 });
