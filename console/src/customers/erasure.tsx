import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { ApiFailure } from '../api/failure.ts'
import { counted } from '../parts/action.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Answer, Facts, Section } from '../parts/page.tsx'
import { Badge, Time } from '../parts/text.tsx'
import { readErasure } from './customer.ts'

const RUNNING_MS = 2_000

interface EraseProps {
  readonly id: string
  readonly onClose: () => void
}

/** Erases a customer once that is confirmed; one who waits for paid goods only when told so again. */
export function Erase({ id, onClose }: EraseProps) {
  const [isWaiting, setIsWaiting] = useState(false)
  return (
    <FormDialog
      title="Erase"
      submit={isWaiting ? 'Erase nevertheless' : 'Erase for good'}
      isDanger
      done="The customer is erased."
      changes={['customers', 'orders']}
      send={async () => {
        const query = isWaiting ? { force: 'true' as const } : {}
        try {
          await bodyOf(api.DELETE('/v1/customers/{id}', { params: { path: { id }, query } }))
        } catch (error) {
          setIsWaiting(error instanceof ApiFailure && error.status === 409)
          throw error
        }
      }}
      onClose={onClose}
    >
      <p>
        Name, e-mail, phone and note go at once, and soon after the addresses and notes of the orders. Orders keep their
        lines and money, and invoices keep their buyer, as the law asks. This cannot be taken back.
      </p>
    </FormDialog>
  )
}

/** How far the erasure of a customer is, who is not there any more. */
export function Erasure({ id }: { readonly id: string }) {
  const erasure = useQuery({
    queryKey: ['customers', id, 'erasure'],
    queryFn: () => readErasure(id),
    refetchInterval: ({ state }) => (state.data?.state === 'RUNNING' ? RUNNING_MS : false),
  })
  return (
    <Answer of={erasure}>
      {({ state, requested_at, done_at, kept_invoices }) => (
        <Section title="This customer is erased">
          <p role="status">
            {state === 'DONE'
              ? 'Name and addresses are gone from all orders.'
              : 'Name and e-mail are gone. Addresses and notes of the orders are being removed…'}
          </p>
          <Facts
            of={{
              State: <Badge state={state} tone={state === 'DONE' ? 'good' : 'busy'} />,
              Requested: <Time at={requested_at} />,
              Done: done_at && <Time at={done_at} />,
              'Kept, as the law asks':
                kept_invoices > 0 ? `the buyer on ${counted(kept_invoices, 'invoice')}` : undefined,
            }}
          />
        </Section>
      )}
    </Answer>
  )
}
