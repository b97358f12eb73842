/** What an attempt signed: the headers `Webhook-Id` and `Webhook-Timestamp`, and the body as it was sent. */
interface Signed {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A header of an attempt, however its name is written. */
export const headerOf = (headers: Readonly<Record<string, string>>, name: string): string =>
  Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1] ?? ''

/**
 * Whether a secret signed an attempt (docs/webhooks.md): one of the signatures is the HMAC-SHA256 of
 * `{Webhook-Id}.{Webhook-Timestamp}.{body}` in hexadecimal digits or in base64. Throws for what is no secret.
 */
export async function isSignedBy(secret: string, { headers, body }: Signed): Promise<boolean> {
  const key = await crypto.subtle.importKey('raw', keyOf(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const text = `${headerOf(headers, 'webhook-id')}.${headerOf(headers, 'webhook-timestamp')}.${body}`
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text)))
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const base64 = btoa(String.fromCharCode(...bytes))
  const signatures = headerOf(headers, 'webhook-signature').split(' ')
  return signatures.includes(`v1,${hex}`) || signatures.includes(`v1,${base64}`)
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(secret.trim().replace(/^whsec_/, '')), (character) => character.charCodeAt(0))
  } catch {
    throw new Error('This is no secret of an endpoint: it begins with whsec_ and goes on in base64.')
  }
}
