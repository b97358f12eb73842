import type { components } from '../api/client.ts'
import { Facts, Section } from '../parts/page.tsx'
import { Json, Long, Time } from '../parts/text.tsx'
import { adviceOn, outcomeOf } from './advice.ts'

export type Attempt = components['schemas']['DeliveryAttempt']

interface AttemptProps {
  readonly attempt: Attempt
  /** Advice is for the newest attempt: the others are history. */
  readonly isNewest: boolean
}

/** One attempt: what was answered, what to do about it, and what was sent. */
export const AttemptOf = ({
  attempt: { number, at, duration_ms, request, response, error },
  isNewest,
}: AttemptProps) => (
  <Section title={`Attempt ${number}`}>
    <Facts
      of={{
        Answer: outcomeOf(response?.status ?? null, error?.class ?? null),
        Took: `${duration_ms.toLocaleString()} ms`,
        At: <Time at={at} />,
        Error: error && error.class !== 'status' && <Long text={error.message} />,
        To: <Long text={request.url} />,
      }}
    />
    {error && isNewest && <p className="notice">{adviceOn(error.class, response?.status)}</p>}
    {response && (
      <details>
        <summary>What the endpoint answered</summary>
        <HeadersAndBody {...response} />
      </details>
    )}
    <details>
      <summary>What was sent</summary>
      <HeadersAndBody {...request} />
    </details>
  </Section>
)

const HeadersAndBody = ({ headers, body, truncated }: Pick<Attempt['request'], 'headers' | 'body' | 'truncated'>) => (
  <div className="stack">
    <Json
      value={Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n')}
    />
    {body === '' ? <p className="quiet">No body.</p> : <Json value={body} />}
    {truncated && <p className="quiet">Only the beginning of the body is kept.</p>}
  </div>
)
