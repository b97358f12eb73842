import { ApiError } from './errors.ts'

/** The refusals: `rate_limited` for an owner beyond its share, else `service_unavailable`; both ask for a second (OP-161). */
export const slotRefusals =
  (messages: Readonly<Record<'owner' | 'all', string>>) =>
  (why: 'owner' | 'all'): ApiError =>
    new ApiError(why === 'owner' ? 'rate_limited' : 'service_unavailable', messages[why], {
      headers: { 'retry-after': '1' },
    })
