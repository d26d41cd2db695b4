import ConfigProvider from 'antd/es/config-provider';
import antdTheme from 'antd/es/theme';
import type { MapToken, SeedToken } from 'antd/es/theme/interface';
import { language, type Theme, useTheme } from 'mfe-kit';
import { type ComponentProps, type ReactNode, useMemo, useSyncExternalStore } from 'react';
import '../theme/antd.css';
import { antdTokens } from '../theme/tokens';
import { uiTexts } from './ui-texts';

type Config = ComponentProps<typeof ConfigProvider>;

/** Our theme for antd, whose styles are in antd.css. */
function antdConfig(name: Theme): NonNullable<Config['theme']> {
  const token = antdTokens(name);
  const { darkAlgorithm, defaultAlgorithm } = antdTheme;
  return {
    zeroRuntime: true,
    hashed: false,
    cssVar: { key: 'mkopo' },
    token,
    algorithm: [
      name === 'dark' ? darkAlgorithm : defaultAlgorithm,
      // antd's derivation changes some of our colours.
      (seed: SeedToken, derived?: MapToken) => ({ ...(derived ?? defaultAlgorithm(seed)), ...token }),
    ],
    components: { Button: { ...FLAT, fontWeight: 500 } },
  };
}

const FLAT = { primaryShadow: 'none', defaultShadow: 'none', dangerShadow: 'none' };

/**
 * The locale of antd's components, with the kit's texts: antd has none for Swahili. In English, too: where it comes and
 * goes, antd draws everything inside as new, without what is typed.
 */
function antdLocale(locale: string) {
  const { noOptions: description, ok, cancel } = uiTexts();
  return { locale, Empty: { description }, Modal: { okText: ok, cancelText: cancel, justOkText: ok } };
}

/**
 * Gives antd's components (`Select`, `Switch`, `Modal`) the theme and the language of the screens. The
 * shell draws it around the screens of signed-in users; a public screen with such a component draws it itself.
 */
export function ThemeProvider({ children }: { children: ReactNode }) {
  const name = useTheme();
  const theme = useMemo(() => antdConfig(name), [name]);
  const spoken = useSyncExternalStore(language.subscribe, () => language.current);
  const locale = useMemo(() => antdLocale(spoken), [spoken]);
  return (
    <ConfigProvider
      theme={theme}
      wave={{ disabled: true }}
      button={{ autoInsertSpace: false }}
      locale={locale}
    >
      {children}
    </ConfigProvider>
  );
}
