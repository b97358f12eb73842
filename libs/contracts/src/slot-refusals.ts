import { ApiError } from './errors.ts'

/** `rate_limited` for an owner beyond its share, otherwise `service_unavailable`: both with Retry-After 1 (OP-161). */
export const slotRefusals =
  (messages: Readonly<Record<'owner' | 'all', string>>) =>
  (why: 'owner' | 'all'): ApiError =>
    new ApiError(why === 'owner' ? 'rate_limited' : 'service_unavailable', messages[why], {
      headers: { 'retry-after': '1' },
      ...(why === 'owner' && { errorReason: 'too_many_at_once' }),
    })
