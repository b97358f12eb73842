import type { Installation } from '@backoffice/contracts/app.ts'
import { type Html, html } from '../document/html.ts'
import { appIdentity, workspaceName } from '../document/identity.ts'
import type { PageContent } from '../document/send-page.ts'
import type { PageSession } from '../sessions/page-sessions.ts'
import { shownScopes } from './scope-sentences.ts'

/** What the merchant has just decided; undefined on a later visit. */
export type Decision = 'approve' | 'decline' | undefined

/** The page of an installation that waits for no consent: what has become of it. */
export function statePage(installation: Installation, session: PageSession, decision: Decision): PageContent {
  const { name, state, scopes, last_error } = installation
  const page = (title: string, text: string, further?: Html): PageContent => ({
    title,
    body: html`
    <main class="card">
      ${appIdentity(installation)}
      <h1>${title}</h1>
      <p class="quiet">Workspace: ${workspaceName(session)}</p>
      <p>${text}</p>
      ${further}
    </main>`,
  })
  if (state === 'PENDING') {
    const again = html`<p><a class="button" href="/apps/consent/${installation.id}">Check again</a></p>`
    if (last_error !== null) {
      // The app, or a part of ours, has failed; a suspended app is not even asked.
      const text = 'The installation has not succeeded yet. We try again by ourselves; you can close this page.'
      return page(`${name} is not ready yet`, text, again)
    }
    return { ...page(`${name} is being installed`, 'This takes a few seconds.', again), refreshSeconds: 2 }
  }
  if (state === 'ACTIVE') {
    const may = html`
      <h2>It may</h2>
      <ul class="list">${shownScopes(scopes, []).map(({ sentence }) => html`<li>${sentence}</li>`)}</ul>`
    if (decision === 'decline') return page(`${name} stays as it was`, 'You declined the new access.', may)
    const text =
      decision === 'approve'
        ? 'You can close this page and open the app in your back office.'
        : 'Nothing waits for your decision.'
    return page(`${name} is installed`, text, may)
  }
  if (state === 'FAILED') {
    // After 24 hours, or at once when somebody has revoked the new key.
    const text = 'The installation was given up. The app has no access to your workspace.'
    return page(`${name} could not be installed`, text)
  }
  const text =
    decision === 'decline'
      ? 'You declined. The app has no access to your workspace.'
      : 'The app has no access to your workspace.'
  return page(`${name} is not installed`, text)
}
