import { ConfigContext } from 'antd/es/config-provider';
import { type ComponentProps, type ReactNode, useContext, useMemo } from 'react';

/** How antd's components behave. Their colours are those of our theme: the build writes their styles. */
const BEHAVIOUR = {
  wave: { disabled: true },
  button: { autoInsertSpace: false },
} satisfies Partial<ComponentProps<typeof ConfigContext.Provider>['value']>;

/** Sets up antd's components. Drawn once, by the shell. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  const defaults = useContext(ConfigContext);
  const config = useMemo(() => ({ ...defaults, ...BEHAVIOUR }), [defaults]);
  return <ConfigContext value={config}>{children}</ConfigContext>;
}
