import type { Installation } from '@backoffice/contracts/app.ts'
import { ALL_EVENTS } from '@backoffice/contracts/enabled-events.ts'
import { type Html, html } from '../document/html.ts'
import { appIdentity, workspaceName } from '../document/identity.ts'
import type { PageSession } from '../sessions/page-sessions.ts'
import { type ShownScope, shownScopes } from './scope-sentences.ts'

interface ConsentPage {
  readonly installation: Installation
  readonly session: PageSession
  readonly csrfToken: string
  /** The app asks for something else than the merchant was shown before. */
  readonly hasChanged: boolean
}

/** The page that asks the merchant to approve an app. Works without scripts. */
export function consentPage({ installation, session, csrfToken, hasChanged }: ConsentPage): Html {
  const { name, requested_scopes: requested, scopes: consented, webhooks, checkout } = installation
  const shown = shownScopes(requested, consented)
  const wide = shown.filter(({ isWide }) => isWide)
  const given = consented.filter((scope) => !requested.includes(scope))
  const isUpgrade = consented.length > 0
  const events = webhooks?.events ?? []
  return html`
    <main class="card">
      ${
        hasChanged &&
        html`<div class="notice" role="alert">
        <strong>The request has changed.</strong>
        <p>The app now asks for something else than you were shown. Nothing was approved. Please read the list again.</p>
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
      ${
        wide.length < shown.length &&
        html`<section aria-labelledby="scopes">
        <h2 id="scopes">${wide.length > 0 ? 'It may also' : 'It may'}</h2>
        <ul class="list">${shown.filter(({ isWide }) => !isWide).map(scopeItem)}</ul>
      </section>`
      }
      ${events.length > 0 && eventSection(events)}
      ${
        checkout !== null &&
        html`<section aria-labelledby="checkout">
        <h2 id="checkout">It takes payments</h2>
        <p>You can send customers to this app to pay an order. The app learns the order and its amount, and may add a fee.</p>
      </section>`
      }
      ${
        given.length > 0 &&
        html`<section aria-labelledby="given-up">
        <h2 id="given-up">It no longer asks for</h2>
        <ul class="list">${shownScopes(given, []).map(scopeItem)}</ul>
      </section>`
      }
      <form method="post" class="decision">
        <input type="hidden" name="csrf" value="${csrfToken}">
        ${requested.map((scope) => html`<input type="hidden" name="scope" value="${scope}">`)}
        ${events.map((event) => html`<input type="hidden" name="event" value="${event}">`)}
        <button class="primary" name="decision" value="approve">${isUpgrade ? 'Approve new access' : 'Approve and install'}</button>
        <button name="decision" value="decline">Decline</button>
      </form>
    </main>`
}

const scopeItem = ({ scope, sentence, isNew }: ShownScope): Html => html`
          <li>
            <span>${sentence}${isNew && html` <strong class="tag new">New</strong>`}</span>
            <code>${scope}</code>
          </li>`

const eventSection = (events: readonly string[]): Html => html`
      <section aria-labelledby="events">
        <h2 id="events">It receives events</h2>
        ${
          events.includes(ALL_EVENTS)
            ? html`<p>Every event of this workspace is sent to the app, with the data in it.</p>`
            : html`<p>These events are sent to the app, with the data in them:</p>
        <ul class="codes">${events.map((event) => html`<li><code>${event}</code></li>`)}</ul>`
        }
      </section>`
