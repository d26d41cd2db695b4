import { type Schema, wholeNumberIn } from 'mfe-kit';
import { groupedAmount } from './grouped-amount';
import type { SettingsTexts } from './settings-texts';

export interface TypedRules {
  session_minutes: string;
  maximum_amount: string;
  retry_attempts: string;
  confirmation_required: boolean;
  auto_retry: boolean;
}

export type SettingsErrors = Partial<
  Record<'time_zone' | 'session_minutes' | 'maximum_amount' | 'retry_attempts', string>
>;

export function typedFrom(rules: Schema<'PortalRules'>): TypedRules {
  return {
    session_minutes: String(rules.session_minutes),
    maximum_amount: rules.maximum_amount === null ? '' : groupedAmount(String(rules.maximum_amount)),
    retry_attempts: String(rules.retry_attempts),
    confirmation_required: rules.confirmation_required,
    auto_retry: rules.auto_retry,
  };
}

export function rulesFrom(typed: TypedRules): Schema<'NewPortalRules'> {
  return {
    ...typed,
    session_minutes: wholeNumberIn(typed.session_minutes),
    maximum_amount: typed.maximum_amount.trim() === '' ? null : wholeNumberIn(typed.maximum_amount),
    retry_attempts: wholeNumberIn(typed.retry_attempts),
  };
}

/** The shortest session that an admin can choose, given the longest that the deployment allows, in minutes. */
export const shortestSession = (longest: number) => Math.min(5, longest);

export function errorsIn(typed: TypedRules, longest: number, texts: SettingsTexts): SettingsErrors {
  const { session_minutes, maximum_amount, retry_attempts } = typed;
  const shortest = shortestSession(longest);
  return {
    ...(isWithin(session_minutes, shortest, longest)
      ? {}
      : { session_minutes: texts.wrongMinutes(shortest, longest) }),
    ...(maximum_amount.trim() === '' || isWithin(maximum_amount, 1, Number.MAX_SAFE_INTEGER)
      ? {}
      : { maximum_amount: texts.wrongMaximum }),
    ...(isWithin(retry_attempts, 0, 10) ? {} : { retry_attempts: texts.wrongRetries }),
  };
}

function isWithin(text: string, lowest: number, highest: number): boolean {
  const number = wholeNumberIn(text);
  return number >= lowest && number <= highest;
}
