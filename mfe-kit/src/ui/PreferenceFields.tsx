import Select from 'antd/es/select';
import Switch from 'antd/es/switch';
import { LANGUAGES, type Schema } from 'mfe-kit';
import { type ReactNode, useMemo } from 'react';
import { Field } from './Field';
import classes from './PreferenceFields.module.css';
import { preferenceTexts } from './preference-texts';

export interface PreferenceFieldsProps {
  value: Schema<'Preferences'>;
  /** The deployment's time zone, which applies without a choice. */
  portalTimeZone: string;
  /** The server does not know the time zone. */
  isTimeZoneUnknown?: boolean;
  onChange: (changes: Partial<Schema<'Preferences'>>) => void;
  /** Further fields, drawn beside the time zone. */
  children?: ReactNode;
}

/** The fields of a person's preferences: the language, the time zone and the notifications. */
export function PreferenceFields({
  value,
  portalTimeZone,
  isTimeZoneUnknown = false,
  onChange,
  children,
}: PreferenceFieldsProps) {
  const texts = preferenceTexts();
  const zones = useMemo(
    () => [
      { value: '', label: texts.portalTimeZone(portalTimeZone) },
      ...[...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].map((zone) => ({
        value: zone,
        label: zone.replaceAll('_', ' '),
      })),
    ],
    [portalTimeZone, texts],
  );
  const toggle = (key: 'notify_by_email' | 'notify_by_sms', label: string) => (
    <label className={classes.toggle}>
      {label}
      <Switch aria-label={label} checked={value[key]} onChange={(isOn) => onChange({ [key]: isOn })} />
    </label>
  );
  return (
    <>
      <div className={classes.fields}>
        <Field label={texts.language}>
          {(control) => (
            <Select
              {...control}
              virtual={false}
              options={LANGUAGES.map((one) => ({
                value: one,
                label: <span lang={one}>{texts.languages[one]}</span>,
              }))}
              value={value.language}
              onChange={(chosen) => onChange({ language: chosen })}
            />
          )}
        </Field>
        <Field label={texts.timeZone} error={isTimeZoneUnknown ? texts.unknownTimeZone : undefined}>
          {(control) => (
            <Select
              {...control}
              status={isTimeZoneUnknown ? 'error' : ''}
              showSearch={{ optionFilterProp: 'label' }}
              options={zones}
              value={value.time_zone ?? ''}
              onChange={(zone) => onChange({ time_zone: zone || null })}
            />
          )}
        </Field>
        {children}
      </div>
      {toggle('notify_by_email', texts.byEmail)}
      {toggle('notify_by_sms', texts.bySms)}
      <p className={`detail ${classes.hint}`}>{texts.notifications}</p>
    </>
  );
}
