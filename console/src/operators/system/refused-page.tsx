import { useParams } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { counted, useAction } from '../../parts/action.tsx'
import { useList } from '../../parts/list.tsx'
import { Badge, Id, Long, Time } from '../../parts/text.tsx'
import { RecordsPage } from './records-page.tsx'

type Publisher = 'gateway' | 'catalog' | 'collections' | 'orders' | 'imports' | 'apps'

/** The records that a service could not publish, and their resend. */
export function RefusedPage() {
  const params = useParams({ from: '/operators/system/outbox/$service' })
  // The API refuses others.
  const path = { service: params.service as Publisher }
  const refused = useList(['operators', 'outbox', path.service], (query) =>
    bodyOf(admin.GET('/admin/v1/outbox/{service}/refused', { params: { path, query } })),
  )
  const resend = useAction(
    (ids: readonly string[] | undefined) =>
      bodyOf(admin.POST('/admin/v1/outbox/{service}/resend', { params: { path }, body: ids ? { ids: [...ids] } : {} })),
    {
      done: ({ resent }) => `${counted(resent, 'record is', 'records are')} published again.`,
      changes: ['operators'],
    },
  )
  return (
    <RecordsPage
      title={`Refused records of ${path.service}`}
      verb="Resend"
      question="Publish these records? Of those that a later record has overtaken, an old state replaces a newer one."
      questionOfAll="Publish all refused records that no later one has overtaken?"
      action={resend}
      runbook="outbox-rows-refused"
      of={refused}
      label="Refused records"
      columns={[
        { head: 'Type', cell: ({ type }) => type },
        { head: 'At', cell: ({ at }) => <Time at={at} /> },
        { head: 'Reason', cell: ({ reason }) => <Long text={reason} /> },
        { head: 'Topic', cell: ({ topic }) => topic },
        { head: 'Key', cell: ({ key }) => <Id id={key} /> },
        { head: 'Workspace', cell: ({ workspace }) => <Id id={workspace} /> },
        { head: 'State', cell: ({ overtaken }) => <Badge state={overtaken ? 'OVERTAKEN' : 'REFUSED'} /> },
      ]}
    />
  )
}
