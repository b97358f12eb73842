import { useState } from 'react'
import { Copy } from '../parts/copy.tsx'
import { Section } from '../parts/page.tsx'
import { Json } from '../parts/text.tsx'
import type { Attempt } from './attempt.tsx'
import { curlOf } from './curl.ts'

interface PayloadProps {
  readonly body: string
  /** The newest attempt: a command repeats its request. */
  readonly last: Attempt | undefined
}

/** The body of a delivery, indented or as it is sent. */
export function Payload({ body, last }: PayloadProps) {
  const [isRaw, setIsRaw] = useState(false)
  return (
    <Section
      title="Payload"
      actions={
        <>
          <div className="several">
            <button type="button" aria-pressed={!isRaw} onClick={() => setIsRaw(false)}>
              Pretty
            </button>
            <button type="button" aria-pressed={isRaw} onClick={() => setIsRaw(true)}>
              Raw
            </button>
          </div>
          <Copy text={body} done="The payload is copied.">
            Copy
          </Copy>
          {last && (
            <Copy
              text={curlOf(last.request, body)}
              done="The command is copied. Receivers that check the time of the signature refuse it after five minutes."
            >
              Copy as curl
            </Copy>
          )}
        </>
      }
    >
      <Json value={isRaw ? body : indented(body)} />
    </Section>
  )
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
