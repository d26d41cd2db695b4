import ConfigProvider from 'antd/es/config-provider';
import antdTheme from 'antd/es/theme';
import { useTheme } from 'mfe-kit';
import type { ReactNode } from 'react';
import { antdTokens } from '../theme/tokens';

const FLAT = { primaryShadow: 'none', defaultShadow: 'none', dangerShadow: 'none' };

/** Gives antd's components our theme. Drawn once, by the shell. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  const theme = useTheme();
  return (
    <ConfigProvider
      theme={{
        cssVar: { key: 'mkopo' },
        hashed: false,
        // The last step restores our colours where antd's derivation has changed them.
        algorithm: [
          theme === 'dark' ? antdTheme.darkAlgorithm : antdTheme.defaultAlgorithm,
          (_seed, derived) => ({ ...antdTheme.defaultAlgorithm(_seed), ...derived, ...antdTokens(theme) }),
        ],
        token: antdTokens(theme),
        components: {
          Button: { ...FLAT, fontWeight: 500, contentFontSizeLG: 14 },
          Input: { inputFontSizeLG: 14 },
        },
      }}
      wave={{ disabled: true }}
      button={{ autoInsertSpace: false }}
    >
      {children}
    </ConfigProvider>
  );
}
