const SECRET = /((?:sk_(?:live|test)|whsec)_)[\w+/=-]+/g

/**
 * A text for the log, with API keys and webhook secrets cut to their beginning, as `sk_live_…`: clients put them into
 * paths, and names of members, where they do not belong.
 */
export const withoutSecrets = (text: string): string => text.replace(SECRET, '$1…')
