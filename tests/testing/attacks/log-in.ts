/** Logs in to the console with an API key. Returns the headers with which its pages ask. */
export async function logIn(gateway: string, credential: string): Promise<Record<string, string>> {
  const ours = { 'x-requested-with': 'console', origin: new URL(gateway).origin }
  const response = await fetch(new URL('/console/session', gateway), {
    method: 'POST',
    headers: { ...ours, 'content-type': 'application/json' },
    body: JSON.stringify({ credential }),
  })
  if (response.status !== 201) throw new Error(`POST /console/session: ${response.status} ${await response.text()}`)
  return { ...ours, cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}
