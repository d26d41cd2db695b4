import type { Theme } from './theme';

/** The colours of styles.css that antd computes with, under the same names. */
export const COLOURS = {
  light: {
    layout: '#f5f6f8',
    surface: '#ffffff',
    raised: '#ffffff',
    subtle: '#f9fafb',
    line: '#e2e5ea',
    control: '#868e99',
    text: '#151a21',
    'text-2': '#454d5a',
    'text-3': '#616a77',
    accent: '#0958d9',
    'accent-hover': '#0a4bb8',
    'accent-tint': '#eaf1fd',
    'on-accent': '#ffffff',
    good: '#1f6f0b',
    wait: '#7a4a00',
    bad: '#b8121f',
    'bad-tint': '#fff0f0',
  },
  dark: {
    layout: '#0f1319',
    surface: '#171c24',
    raised: '#1e2530',
    subtle: '#1b212b',
    line: '#2b3340',
    control: '#6f7a8a',
    text: '#e9edf3',
    'text-2': '#bcc5d1',
    'text-3': '#97a2b2',
    accent: '#6ea1ff',
    'accent-hover': '#8ab4ff',
    'accent-tint': '#1a2a47',
    'on-accent': '#0b1320',
    good: '#86d46a',
    wait: '#f2c14e',
    bad: '#ff8d8d',
    'bad-tint': '#341a1d',
  },
} as const satisfies Record<Theme, Record<string, string>>;

/**
 * antd's tokens for a theme, for the build, which writes antd's styles from them. Those that antd would derive too
 * pale are set explicitly.
 *
 * @public
 */
export function antdTokens(theme: Theme) {
  const c = COLOURS[theme];
  return {
    colorBgLayout: c.layout,
    colorBgContainer: c.surface,
    colorBgElevated: c.raised,
    colorBgContainerDisabled: c.subtle,
    colorBorder: c.control,
    colorBorderDisabled: c.line,
    colorBorderSecondary: c.line,
    colorText: c.text,
    colorTextHeading: c.text,
    colorTextSecondary: c['text-2'],
    colorTextTertiary: c['text-3'],
    colorTextQuaternary: c['text-3'],
    colorTextDescription: c['text-3'],
    colorTextPlaceholder: c['text-3'],
    colorTextDisabled: c['text-3'],
    colorIcon: c['text-2'],
    colorPrimary: c.accent,
    colorPrimaryHover: c['accent-hover'],
    colorPrimaryActive: c['accent-hover'],
    colorPrimaryBg: c['accent-tint'],
    colorPrimaryBorder: c.accent,
    colorLink: c.accent,
    colorLinkHover: c['accent-hover'],
    colorLinkActive: c['accent-hover'],
    colorTextLightSolid: c['on-accent'],
    colorSuccess: c.good,
    colorWarning: c.wait,
    colorError: c.bad,
    colorErrorBg: c['bad-tint'],
    controlItemBgHover: c.subtle,
    controlItemBgActive: c['accent-tint'],
    opacityLoading: 1, // a paler label could not be read
    borderRadius: 6,
    borderRadiusLG: 8,
    controlHeight: 36,
    controlHeightLG: 40,
    fontFamily: 'var(--font)',
    fontSize: 14,
    lineHeight: 22 / 14,
    motionDurationFast: '0.1s',
    motionDurationMid: '0.15s',
    motionDurationSlow: '0.15s',
  };
}
