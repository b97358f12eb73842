import { ERROR_REASONS } from '@backoffice/contracts/error-reasons.ts'
import { ERROR_STATUS, type ErrorCode } from '@backoffice/contracts/errors.ts'
import { html } from '../../pages/document/html.ts'

const seen = new Set<string>()
/** A reason of two codes is linked to the first. */
const anchorOf = (reason: string) => (seen.has(reason) ? undefined : seen.add(reason) && html` id="${reason}"`)

/** The page to which the `Link` of each refusal leads (OP-265): docs/errors.md has the same. */
export const ERRORS_PAGE = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Errors of the Commerce Back-Office API</title>
    <link rel="icon" href="data:,">
    <style>body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font-family: sans-serif } :target { background: #ffc }</style>
  </head>
  <body>
    <h1>Errors</h1>
    <p>The header <code>Error-Reason</code> says why a request was refused. Codes may get more reasons.</p>
    ${Object.entries(ERROR_REASONS).map(
      ([code, reasons]) =>
        html`<h2>${code} (${ERROR_STATUS[code as ErrorCode]})</h2><dl>${Object.entries(reasons).map(
          ([reason, text]) =>
            html`<dt${anchorOf(reason)}><code>${reason}</code></dt><dd>${text.replaceAll('`', '')}</dd>`,
        )}</dl>`,
    )}
  </body>
</html>
`.text
