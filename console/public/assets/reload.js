/*
 * A deploy replaces the files of the console: a browser that has the page of before, or asks a gateway of before, gets
 * the page again, once. The router does so for the files of the other pages. This file has the same name in each build.
 */
const RELOAD_AGAIN_MS = 60_000

function reloadOnce() {
  const isRepeated = Date.now() - Number(sessionStorage.getItem('reloaded_at')) < RELOAD_AGAIN_MS
  sessionStorage.setItem('reloaded_at', String(Date.now()))
  if (!isRepeated) location.reload()
}

/** Whether it is a script or a style of the console: one that an extension of the browser puts in may be refused. */
const isOurs = (target) =>
  target?.matches?.('script, [rel=stylesheet]') &&
  String(target.src ?? target.href).startsWith(`${location.origin}/console/assets/`)

// The router reloads once for each message of an error. A later deploy may have the same one.
setTimeout(() => {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith('tanstack_router_reload:')) sessionStorage.removeItem(key)
  }
}, RELOAD_AGAIN_MS)

// Of the script and the style that the page begins with.
addEventListener('error', ({ target }) => isOurs(target) && reloadOnce(), true)
