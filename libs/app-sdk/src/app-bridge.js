/**
 * A token is asked for anew so many milliseconds before it expires, and after so many: the clock of the browser may be
 * behind. The page around gives one that is valid for a minute at least, and has it at hand.
 */
const [MARGIN_MS, KEPT_MS] = [30_000, 30_000]
const TIMEOUT_MS = 10_000

/**
 * Connects an embed with the page of the platform that frames it. `platformOrigin` is that page's origin, such as
 * `https://admin.example.com`: messages go to it only, and messages of any other origin are ignored. A browser module
 * without dependencies: serve it with your embed.
 *
 * @param {string} platformOrigin
 * @param {Window} [page]
 * @param {string[]} [origins] whose servers get the session token: that of the page unless given
 */
export function appBridge(platformOrigin, page = window, origins = [page.location.origin]) {
  const host = page.parent
  let current

  function askForToken() {
    return new Promise((resolve, reject) => {
      function onMessage({ origin, source, data }) {
        if (origin !== platformOrigin || source !== host || data?.type !== 'SESSION_TOKEN') return
        stop()
        resolve({ token: data.token, keptUntil: Math.min(data.exp * 1000 - MARGIN_MS, Date.now() + KEPT_MS) })
      }
      function stop() {
        page.removeEventListener('message', onMessage)
        clearTimeout(timer)
      }
      const timer = setTimeout(() => {
        stop()
        reject(new Error(`${platformOrigin} gives no session token`))
      }, TIMEOUT_MS)
      page.addEventListener('message', onMessage)
      host.postMessage({ type: 'GET_SESSION_TOKEN' }, platformOrigin)
    })
  }

  /** The session token that is known while it is sure to be valid, else a new one. */
  async function sessionToken() {
    if (current && (await current).keptUntil <= Date.now()) current = undefined
    current ??= askForToken().catch((error) => {
      current = undefined
      throw error
    })
    return (await current).token
  }

  return {
    sessionToken,
    /**
     * As `fetch`, with the session token. Refuses a URL of another origin than those that may get it.
     *
     * @param {RequestInfo | URL} resource
     * @param {RequestInit} [options]
     */
    async fetch(resource, options) {
      const request = new Request(resource, options)
      const { origin } = new URL(request.url)
      if (!origins.includes(origin)) throw new Error(`${origin} is none of the origins that get the session token`)
      request.headers.set('authorization', `Bearer ${await sessionToken()}`)
      return fetch(request)
    },
    /** Tells the host page that the embed is shown. */
    ready: () => host.postMessage({ type: 'READY' }, platformOrigin),
  }
}
