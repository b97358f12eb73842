import type { Installation } from '@backoffice/contracts/app.ts'
import { type Html, html } from '../document/html.ts'
import { workspaceName } from '../document/identity.ts'
import type { PageSession } from '../sessions/page-sessions.ts'

/**
 * What an app's frame may do. It has an origin of its own, so `allow-same-origin` gives it its own storage and none of ours. It must not
 * move the window around it.
 */
const SANDBOX =
  'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads'

/** The page with an app's embed in a frame. The script reads what it needs from the attributes of `main`. */
export function embedPage(
  { id, provider, name, origin, embed }: Installation,
  session: PageSession,
  csrfToken: string,
): Html {
  return html`
    <header class="bar">
      <p><strong><bdi>${name}</bdi></strong> <span class="quiet host">${new URL(origin).host}</span></p>
      <p>${workspaceName(session)}</p>
    </header>
    <main
      class="stage"
      data-name="${name}"
      data-origin="${origin}"
      data-session="/apps/${provider}/session?installation=${id}"
      data-csrf="${csrfToken}"
    >
      <p class="status" role="status">Loading <bdi>${name}</bdi>…</p>
      <noscript><p class="status">This page needs JavaScript.</p></noscript>
      <iframe
        title="${name}"
        src="${new URL(embed, origin).href}"
        sandbox="${SANDBOX}"
        referrerpolicy="origin"
      ></iframe>
    </main>`
}
