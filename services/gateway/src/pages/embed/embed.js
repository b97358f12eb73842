// The platform's side of an app's embed (OP-83). Answers the messages of the app's frame, from its origin only and to
// its origin only.
;(() => {
  // It runs before the frame is there, so that it hears an app whose page is quicker than the rest of this one.
  const main = document.querySelector('main')
  const frameOf = () => document.querySelector('iframe')
  const status = document.querySelector('[role=status]')
  const { name, origin, session, csrf } = main.dataset
  const dark = matchMedia('(prefers-color-scheme: dark)')

  /** A token is replaced this long before it expires, in milliseconds. */
  const REPLACED_EARLIER_MS = 60_000
  const LONGEST_PAUSE_MS = 30_000

  /** The message with the newest token, and until when the app gets this one. */
  let current
  /** The request for a token under way. */
  let asking
  let refreshing
  let isOpen = true

  const post = (message) => frameOf()?.contentWindow?.postMessage(message, origin)
  const postTheme = () => post({ type: 'THEME', theme: dark.matches ? 'dark' : 'light' })

  function say(text) {
    status.textContent = text
    status.hidden = text === ''
  }

  /** Takes the app off the page. */
  function close(text) {
    isOpen = false
    clearTimeout(refreshing)
    frameOf()?.remove()
    say(text)
  }

  const ENDED = {
    401: 'Your session has ended. Open the app with a new link.',
    403: 'Your session has ended. Open the app with a new link.',
    404: `${name} is not installed any more.`,
    409: `${name} is not installed any more, or it is suspended for now. Reload this page to look again.`,
    410: `${name} is not installed any more.`,
  }

  /** Asks for a token until there is one. Resolves with undefined when there will be none. */
  async function askForToken() {
    for (let pause = 1000; isOpen; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const answer = await fetch(session, { method: 'POST', headers: { 'x-csrf-token': csrf } }).catch(() => undefined)
      const given = answer?.ok && (await answer.json().catch(() => undefined))
      if (given) {
        const { token, exp, expires_in, origin: newOrigin } = given
        if (newOrigin !== origin)
          return close(`${name} has moved to another address. Reload this page to open it there.`)
        say('')
        return {
          message: { type: 'SESSION_TOKEN', token, exp },
          until: Date.now() + expires_in * 1000 - REPLACED_EARLIER_MS,
        }
      }
      const ended = ENDED[answer?.status]
      if (ended !== undefined) return close(ended)
      say('The connection is interrupted. Trying again…')
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }

  /** Gives the app a token: the newest one as long as it is valid for a while, otherwise a new one. */
  async function postToken() {
    if (current === undefined || current.until <= Date.now()) {
      asking ??= askForToken().finally(() => {
        asking = undefined
      })
      current = await asking
      if (current === undefined) return
      clearTimeout(refreshing)
      refreshing = setTimeout(postToken, Math.max(0, current.until - Date.now()))
    }
    post(current.message)
  }

  addEventListener('message', ({ source, origin: from, data }) => {
    if (from !== origin || source !== frameOf()?.contentWindow || source === null) return
    if (data?.type === 'GET_SESSION_TOKEN') postToken()
    if (data?.type === 'GET_THEME') postTheme()
    if (data?.type === 'READY') {
      postTheme()
      postToken()
    }
  })
  dark.addEventListener('change', postTheme)
  document.addEventListener('DOMContentLoaded', () => frameOf()?.addEventListener('load', () => say('')))
})()
