import { Link, useParams } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { Filters, Moment } from '../../parts/filters.tsx'
import { useList } from '../../parts/list.tsx'
import { Badge, Id, Long, Time } from '../../parts/text.tsx'
import { RecordsPage } from './records-page.tsx'
import { useReplay } from './replay.ts'

/** The records that one consumer could not process, oldest first, and their replay. */
export function ConsumerPage() {
  const { consumer } = useParams({ from: '/operators/system/dead-letters/$consumer' })
  const replay = useReplay(consumer)
  const letters = useList(['operators', 'dead-letters', consumer], (query) =>
    bodyOf(admin.GET('/admin/v1/consumers/{consumer}/dead-letters', { params: { path: { consumer }, query } })),
  )
  return (
    <RecordsPage
      title={consumer}
      verb="Replay"
      questionOfAll="Replay all dead letters of the last week? Remove their cause first."
      action={replay}
      runbook="dead-letters"
      filters={
        <Filters>
          <Moment label="Since" name="since" />
        </Filters>
      }
      of={letters}
      label="Dead letters"
      columns={[
        {
          head: 'Type',
          cell: ({ id, type }) => (
            <Link to="/operators/system/dead-letters/$consumer/$letter" params={{ consumer, letter: id }}>
              {type ?? 'unknown'}
            </Link>
          ),
          isShort: true,
        },
        { head: 'At', cell: ({ at }) => <Time at={at} /> },
        { head: 'Reason', cell: ({ reason }) => <Long text={reason} /> },
        { head: 'Topic', cell: ({ topic, partition, offset }) => `${topic} ${partition}/${offset}` },
        { head: 'Key', cell: ({ key }) => (key ? <Id id={key} /> : '–') },
        {
          head: 'State',
          cell: ({ parked, replayed }) => <Badge state={replayed ? 'REPLAYED' : parked ? 'KEY_PARKED' : 'DEAD'} />,
        },
      ]}
    />
  )
}
