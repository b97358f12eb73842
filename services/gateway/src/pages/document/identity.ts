import type { Installation } from '@backoffice/contracts/app.ts'
import { type Html, html } from './html.ts'

/** Which app it is: its first letter, its name, and the host that it runs on, which it cannot choose freely. */
export const appIdentity = ({ name, origin }: Pick<Installation, 'name' | 'origin'>): Html => html`
      <p class="identity">
        <span class="letter" aria-hidden="true">${[...name][0]?.toUpperCase()}</span>
        <span><strong><bdi>${name}</bdi></strong><br><span class="quiet">runs at <span class="host">${new URL(origin).host}</span></span></span>
      </p>`

interface NamedWorkspace {
  readonly workspaceName: string
  readonly livemode: boolean
}

/** A workspace by its name, marked live or sandbox. */
export const workspaceName = ({ workspaceName, livemode }: NamedWorkspace): Html =>
  html`<bdi>${workspaceName}</bdi> <span class="tag ${livemode ? 'live' : 'sandbox'}">${livemode ? 'Live' : 'Sandbox'}</span>`
