import { ConfigContext } from 'antd/es/config-provider';
import LocaleContext from 'antd/es/locale/context';
import { language } from 'mfe-kit';
import { type ComponentProps, type ReactNode, useContext, useMemo, useSyncExternalStore } from 'react';
import { uiTexts } from './ui-texts';

/** How antd's components behave. Their colours are those of our theme: the build writes their styles. */
const BEHAVIOUR = {
  wave: { disabled: true },
  button: { autoInsertSpace: false },
} satisfies Partial<ComponentProps<typeof ConfigContext.Provider>['value']>;

/** What antd's components say by themselves; it comes without Swahili. */
function antdLocale(locale: string) {
  const { noOptions: description, ok, cancel } = uiTexts();
  return { locale, Empty: { description }, Modal: { okText: ok, cancelText: cancel, justOkText: ok } };
}

const current = () => language.current;

/** Sets up antd's components, in the language of the screens. Drawn once, by the shell. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  const defaults = useContext(ConfigContext);
  const config = useMemo(() => ({ ...defaults, ...BEHAVIOUR }), [defaults]);
  const spoken = useSyncExternalStore(language.subscribe, current, current);
  return (
    <LocaleContext value={spoken === 'en' ? undefined : antdLocale(spoken)}>
      <ConfigContext value={config}>{children}</ConfigContext>
    </LocaleContext>
  );
}
