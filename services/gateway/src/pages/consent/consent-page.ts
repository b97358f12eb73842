import type { Installation } from '@backoffice/contracts/app.ts'
import { webhookUrl } from '@backoffice/contracts/app-manifest.ts'
import { ALL_EVENTS } from '@backoffice/contracts/enabled-events.ts'
import { type Html, html } from '../document/html.ts'
import { appIdentity, workspaceName } from '../document/identity.ts'
import type { PageSession } from '../sessions/page-sessions.ts'
import { type ShownScope, shownScopes } from './scope-sentences.ts'

/** Why an approval was refused, as the page says it. */
export type Refused = keyof typeof REFUSED | undefined

const REFUSED = {
  changed: html`
        <strong>The request has changed.</strong>
        <p>The app now asks for something else than you were shown. Nothing was approved. Please read the list again.</p>`,
  not_acknowledged: html`
        <strong>The app is not ready for new access.</strong>
        <p>It has not taken over the access that it was given before. Nothing was approved. Please approve again later.</p>`,
}

/**
 * The page that asks the merchant to approve an app. Works without scripts. `refused`: why the approval before was.
 */
export function consentPage(
  installation: Installation,
  session: PageSession,
  csrfToken: string,
  refused: Refused,
): Html {
  const { name, requested_scopes: requested, scopes: consented, webhooks, checkout } = installation
  const shown = shownScopes(requested, consented)
  const wide = shown.filter(({ isWide }) => isWide)
  const other = shown.filter(({ isWide }) => !isWide)
  // A gateway of the version before, which may get the form, sends them on.
  const events = webhooks?.events ?? []
  const given = consented.filter((scope) => !requested.includes(scope))
  const isUpgrade = consented.length > 0
  return html`
    <main class="card">
      ${
        refused !== undefined &&
        html`<div class="notice" role="alert">${REFUSED[refused]}
      </div>`
      }
      ${appIdentity(installation)}
      <h1><bdi>${name}</bdi> asks for ${isUpgrade ? 'more access' : 'access'} to ${workspaceName(session)}</h1>
      <p class="quiet">
        ${
          isUpgrade
            ? 'The app is installed. Until you approve, it keeps the access that it has now.'
            : 'Approve only if you know this app and trust whoever runs it. You can remove it at any time.'
        }
      </p>
      ${
        wide.length > 0 &&
        html`<section class="warning" aria-labelledby="wide">
        <h2 id="wide"><span aria-hidden="true">⚠</span> Wide access</h2>
        <p>This is more than most apps need. Approve it only if you are sure.</p>
        <ul>${wide.map(scopeItem)}</ul>
      </section>`
      }
      ${other.length > 0 && section('scopes', wide.length > 0 ? 'It may also' : 'It may', scopeList(other))}
      ${webhooks !== null && section('events', 'It receives events', eventList(installation, webhooks))}
      ${checkout !== null && section('checkout', 'It takes payments', TAKES_PAYMENTS)}
      ${given.length > 0 && section('given-up', 'It no longer asks for', scopeList(shownScopes(given, [])))}
      <form method="post" class="decision">
        <input type="hidden" name="csrf" value="${csrfToken}">
        ${requested.map((scope) => html`<input type="hidden" name="scope" value="${scope}">`)}
        ${events.map((event) => html`<input type="hidden" name="event" value="${event}">`)}
        <input type="hidden" name="webhooks" value="${JSON.stringify(webhooks)}">
        <button class="primary" name="decision" value="approve">${isUpgrade ? 'Approve new access' : 'Approve and install'}</button>
        <button name="decision" value="decline">Decline</button>
      </form>
    </main>`
}

const section = (id: string, title: string, content: Html): Html => html`
      <section aria-labelledby="${id}">
        <h2 id="${id}">${title}</h2>
        ${content}
      </section>`

const scopeList = (scopes: readonly ShownScope[]): Html => html`<ul class="list">${scopes.map(scopeItem)}</ul>`

const scopeItem = ({ scope, sentence, isNew }: ShownScope): Html => html`
          <li>
            <span>${sentence}${isNew && html` <strong class="tag new">New</strong>`}</span>
            <code>${scope}</code>
          </li>`

function eventList(
  { origin, workspace }: Installation,
  { path, events, standard_signature }: NonNullable<Installation['webhooks']>,
): Html {
  const url = html`<code>${webhookUrl(path, origin, workspace).href}</code>`
  return html`${
    events.includes(ALL_EVENTS)
      ? html`<p>Every event of this workspace is sent to ${url}, with the data in it.</p>`
      : html`<p>These events are sent to ${url}, with the data in them:</p>
        <ul class="codes">${events.map((event) => html`<li><code>${event}</code></li>`)}</ul>`
  }${standard_signature === true && html`<p>They also carry a signature for Standard Webhooks.</p>`}`
}

const TAKES_PAYMENTS = html`<p>You can send customers to this app to pay an order. The app learns the order and its amount, and may add a fee.</p>`
