import { AppSession, Installation } from '@backoffice/contracts/app.ts'
import { refuseOtherMethods } from '@backoffice/http/other-methods.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Html, html } from '../document/html.ts'
import { workspaceName } from '../document/identity.ts'
import { forgedRequest, noLongerInstalled, noSuchPage } from '../document/refusals.ts'
import { inlineFile, messagePage, sendPage } from '../document/send-page.ts'
import { askApps, type PagesOptions, refuseCrossSite } from '../sessions/merchant-requests.ts'
import type { PageSession } from '../sessions/page-sessions.ts'

type Ask = FastifyRequest<{ Params: { provider: string }; Querystring: { installation?: unknown } }>

const SCRIPT = inlineFile(new URL('./embed.js', import.meta.url))

/** `/apps/{provider}/embed?installation=…` shows an app in a frame; `…/session` gives the page its tokens (OP-83). */
export function addEmbed(app: FastifyInstance, { apps, ids, sessions, publicUrl, clock }: PagesOptions): void {
  const sessionOf = (request: Ask) => sessions.find(request, 'embed', String(request.query.installation))

  async function show(request: Ask, reply: FastifyReply) {
    const session = await sessionOf(request)
    const installation = await askApps(apps, reply, session, ['GET', ''], Installation)
    const { provider, name, state, origin } = installation
    if (provider !== request.params.provider) throw noSuchPage()
    if (state === 'PENDING') {
      const title = `${name} is being installed`
      return sendPage(reply, { title, body: messagePage(title, 'This takes a few seconds.'), refreshSeconds: 2 })
    }
    if (state !== 'ACTIVE') {
      await sessions.end(reply, session)
      throw noLongerInstalled(name)
    }
    // A frame on our own origin could use the cookies of these pages.
    if (new URL(origin).origin === publicUrl.origin) throw noSuchPage()
    // Popups of the app, such as another service's sign-in, can answer it.
    reply.header('cross-origin-opener-policy', 'same-origin-allow-popups')
    return sendPage(reply, {
      title: name,
      body: embedPage(installation, session, ids.csrfToken(session)),
      isFullSize: true,
      policy: [`script-src ${SCRIPT.source}`, `frame-src ${new URL(origin).origin}`, "connect-src 'self'"],
    })
  }

  async function giveToken(request: Ask, reply: FastifyReply) {
    refuseCrossSite(request, publicUrl)
    const session = await sessionOf(request)
    const csrf = request.headers['x-csrf-token']
    if (!ids.isCsrfToken(session, typeof csrf === 'string' ? csrf : undefined)) throw forgedRequest()
    const opened = await askApps(apps, reply, session, ['POST', '/session'], AppSession)
    if (opened.provider !== request.params.provider) throw noSuchPage()
    const expiresAt = Date.parse(opened.expires_at)
    return reply.code(201).send({
      token: opened.token,
      exp: expiresAt / 1000,
      // The browser's clock may be wrong.
      expires_in: Math.round((expiresAt - clock().getTime()) / 1000),
      origin: opened.origin,
    })
  }

  app.get('/apps/:provider/embed', show)
  refuseOtherMethods(app, '/apps/:provider/embed', ['GET'])
  app.post('/apps/:provider/session', giveToken)
  refuseOtherMethods(app, '/apps/:provider/session', ['POST'])
}

/**
 * What an app's frame may do. It has an origin of its own, so `allow-same-origin` gives it its own storage and none of
 * ours. It must not move the window around it.
 */
const SANDBOX =
  'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads'

/** The page with an app's embed in a frame. The script reads what it needs from the attributes of `main`. */
function embedPage({ id, provider, name, origin, embed }: Installation, session: PageSession, csrfToken: string): Html {
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
      <script type="text/javascript">${SCRIPT.content}</script>
      <iframe
        title="${name}"
        src="${new URL(embed, origin).href}"
        sandbox="${SANDBOX}"
        referrerpolicy="origin"
      ></iframe>
    </main>`
}
