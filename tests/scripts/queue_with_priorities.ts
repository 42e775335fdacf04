interface Task { name: string; priority: number; run: () => Promise<unknown> }

class Queue {
  private tasks: Task[] = [];
  readonly done: string[] = [];
  add(task: Task): this {
    const at = this.tasks.findIndex((other) => other.priority < task.priority);
    this.tasks.splice(at === -1 ? this.tasks.length : at, 0, task);
    return this;
  }
  async drain(): Promise<void> {
    for (let task = this.tasks.shift(); task; task = this.tasks.shift()) {
      await task.run();
      this.done.push(task.name);
    }
  }
}

const queue = new Queue()
  .add({ name: 'log', priority: 1, run: () => everything.echo({ message: 'log' }) })
  .add({ name: 'urgent', priority: 9, run: async () => void (await everything.echo({ message: 'now' })) })
  .add({ name: 'normal', priority: 5, run: () => everything.get_sum({ a: 1, b: 1 }) });
await queue.drain();
return queue.done;
