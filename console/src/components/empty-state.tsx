import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './notice.module.css'

/** Replaces an empty list: why it is empty, and what the user can do. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={classes.notice}>
      <Text fw={600} size="sm">
        {title}
      </Text>
      {children !== undefined && (
        <Text size="sm" c="dimmed" component="div" mt={4}>
          {children}
        </Text>
      )}
    </div>
  )
}
