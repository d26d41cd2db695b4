import type { UserWorkspaceConfig } from 'vitest/config';

export declare const screenTests: NonNullable<UserWorkspaceConfig['test']>;
