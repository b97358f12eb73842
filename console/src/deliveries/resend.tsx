import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { ApiAct, counted, OpenButton } from '../parts/action.tsx'
import { Dialog } from '../parts/dialog.tsx'
import type { Search } from '../parts/filters.tsx'
import { Failure } from '../parts/page.tsx'
import { withOneReason } from '../session/reasons.ts'
import { type Delivery, selectionOf } from './find-deliveries.ts'

interface Counts {
  readonly deliveries: number
  readonly skipped: number
}

const NONE: Counts = { deliveries: 0, skipped: 0 }

const sum = (one: Counts, other: Counts): Counts => ({
  deliveries: one.deliveries + other.deliveries,
  skipped: one.skipped + other.skipped,
})

/** Skipped are those that were sent again 100 times in a day. */
const inWords = ({ deliveries, skipped }: Counts): string =>
  `${counted(deliveries, 'delivery is', 'deliveries are')} sent again` +
  (skipped === 0 ? '' : `; ${skipped.toLocaleString()} had 100 resends today and wait until tomorrow`)

interface ResendChosenProps {
  readonly chosen: readonly Delivery[]
  readonly onSent: (ids: readonly string[]) => void
}

/** Sends the chosen deliveries again, with a request for each endpoint. Those of one that fails stay chosen. */
export const ResendChosen = ({ chosen, onSent }: ResendChosenProps) => (
  <ApiAct
    needs="webhook::create"
    className="primary"
    disabled={chosen.length === 0}
    act={async () => {
      let sent = NONE
      for (const [endpoint_id, ofEndpoint] of Map.groupBy(chosen, (one) => one.endpoint_id)) {
        const ids = ofEndpoint.map(({ id }) => id)
        sent = sum(sent, await bodyOf(api.POST('/v1/deliveries/resend', { body: { endpoint_id, ids } })))
        onSent(ids)
      }
      return sent
    }}
    done={(sent) => `${inWords(sent)}.`}
    changes={['deliveries']}
  >
    {chosen.length === 0 ? 'Resend chosen' : `Resend ${chosen.length} chosen`}
  </ApiAct>
)

/** Sends again whatever the filters find, 1,000 at a time. */
export function ResendFound({ search }: { readonly search: Search }) {
  const hasFilter = selectionOf(search) !== undefined
  return (
    <OpenButton
      needs="webhook::create"
      disabled={!hasFilter}
      title={hasFilter ? undefined : 'Choose a filter first, such as the state failed'}
      opens={(close) => <ResendDialog search={search} onClose={close} />}
    >
      Resend all found…
    </OpenButton>
  )
}

function ResendDialog({ search, onClose }: { readonly search: Search; readonly onClose: () => void }) {
  const queries = useQueryClient()
  const [state, setState] = useState<'asks' | 'runs' | 'stopped' | 'done'>('asks')
  const [sent, setSent] = useState(NONE)
  const [failure, setFailure] = useState<unknown>()
  const next = useRef<string>(undefined)
  const isStopped = useRef(false)

  async function run() {
    setState('runs')
    setFailure(undefined)
    isStopped.current = false
    try {
      do {
        const after = next.current
        const body = { ...selectionOf(search), ...(after !== undefined && { after }) }
        const part = await bodyOf(api.POST('/v1/deliveries/resend', { body }))
        setSent((before) => sum(before, part))
        next.current = part.next ?? undefined
      } while (next.current !== undefined && !isStopped.current)
      setState(next.current === undefined ? 'done' : 'stopped')
    } catch (error) {
      setFailure(error)
      setState('stopped')
    }
    await queries.invalidateQueries({ queryKey: ['deliveries'] })
  }
  const stop = () => {
    isStopped.current = true
  }
  // Whoever leaves the page, as by the browser's way back, could not stop it any more.
  useEffect(() => stop, [])
  const close = () => {
    stop()
    onClose()
  }
  return (
    <Dialog title="Send again all that the filters find?" onClose={close}>
      {state === 'asks' && (
        <p>
          Each delivery is sent once more, now, the newest first.
          {!search.status && ' That includes those that arrived: choose the state failed to leave them out.'}
        </p>
      )}
      {state !== 'asks' && (
        <p role="status">
          {inWords(sent)}
          {state === 'runs' ? ' so far…' : '.'}
          {state === 'stopped' && ' The rest is not sent.'}
        </p>
      )}
      {state === 'runs' && <progress aria-label="Sending again" />}
      {failure !== undefined && <Failure error={failure} />}
      <div className="actions">
        {state === 'runs' ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="button" onClick={close}>
            {state === 'asks' ? 'Cancel' : 'Close'}
          </button>
        )}
        {(state === 'asks' || state === 'stopped') && (
          <button type="button" className="primary" onClick={() => withOneReason(run)}>
            {state === 'asks' ? 'Send again' : 'Go on'}
          </button>
        )}
      </div>
    </Dialog>
  )
}
