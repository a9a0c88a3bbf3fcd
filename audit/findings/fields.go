package findings

import (
	"regexp"
	"strings"
	"unicode"
)

// A field is what a column, a "Key: value" line or a sub-heading of a text
// report holds.
type field string

const (
	fID, fSeverity, fCWE, fDimension, fFile  field = "ID", "severity", "CWE", "dimension", "file"
	fLines, fEnd, fFunction, fTitle, fKind   field = "lines", "end line", "function", "title", "type"
	fDescription, fConfidence, fRule, fTrace field = "description", "confidence", "rule", "trace"
	fStatus, fSuppressed, fOthers            field = "status", "suppressed", "other locations"
	// fIgnored is known and no part of a finding: advice, and above all evidence,
	// which holds source text.
	fIgnored field = "ignored"
)

// aliases spells the fields as models spell them, lower case. It is the whole
// tolerance for names: what is not here is no field.
var aliases = spelled(map[field]string{
	fID:          "id|no|no.|#|nr|num|number|finding id|vuln id|vulnerability id|issue id|finding no|ref|编号|序号|漏洞编号|问题编号|标识|漏洞id",
	fSeverity:    "severity|sev|risk|risk level|risk rating|severity level|level|rating|criticality|severity/cvss|严重性|严重程度|严重等级|严重级别|级别|等级|风险|风险等级|风险级别|危害等级|危险等级|危害程度|危害级别|漏洞等级|漏洞级别|威胁等级|priority",
	fCWE:         "cwe|cwes|cwe id|cwe ids|cwe number|cwe(s)|weakness|weaknesses|cwe/owasp|cwe 编号|cwe编号|弱点|弱点编号|cwe类型",
	fDimension:   "dimension|area|audit dimension|security dimension|维度|审计维度|安全维度|所属维度",
	fFile:        "file|files|path|file path|filepath|filename|file name|location|locations|file:line|file/line|file & line|file and line|file(s)|path:line|location (file:line)|where|affected file|affected files|affected location|affected code|source file|source location|code location|vulnerable file|文件|文件名|文件路径|路径|位置|文件位置|漏洞位置|问题位置|所在文件|代码位置|受影响文件|影响文件|漏洞文件|文件:行号|文件及行号|文件和行号|文件/行号|所在位置|定位",
	fLines:       "line|lines|line(s)|line no|line no.|line number|line numbers|line range|start line|startline|loc|行|行号|行数|代码行|代码行号|起始行|所在行|行范围",
	fEnd:         "end line|endline|结束行",
	fFunction:    "function|functions|method|methods|function/method|method/function|symbol|affected function|vulnerable function|affected method|函数|方法|函数名|方法名|函数/方法|方法/函数|所在函数|受影响函数",
	fTitle:       "title|name|vulnerability|issue|finding|summary|vulnerability name|vuln|bug|标题|名称|漏洞|漏洞名称|漏洞标题|问题|问题名称|发现",
	fKind:        "type|category|class|vulnerability type|vuln type|issue type|kind|vulnerability class|类型|类别|分类|漏洞类型|问题类型|漏洞类别|漏洞分类",
	fDescription: "description|desc|details|detail|explanation|analysis|overview|reasoning|rationale|why|message|root cause|描述|说明|详情|详细描述|漏洞描述|问题描述|漏洞详情|漏洞说明|分析|漏洞分析|原因|原理|漏洞原理|成因",
	fConfidence:  "confidence|certainty|confidence level|置信度|可信度|确信度|置信等级",
	fRule:        "rule|rule id|check|check id|rule name|规则|规则id",
	fTrace:       "trace|data flow|dataflow|flow|taint flow|taint path|taint trace|call chain|attack path|source to sink|source → sink|source -> sink|source→sink|data flow path|数据流|调用链|污点路径|传播路径|数据流路径|攻击路径|污点传播|利用链",
	fStatus:      "status|state|verification|verdict|状态|验证状态|结论",
	fSuppressed:  "suppressed",
	fOthers:      "other locations|other location|further locations|additional locations|related locations|also|also in|also at|see also|other files|其他位置|相关位置|其他文件|相关文件",
	fIgnored:     "evidence|code|code snippet|snippet|vulnerable code|proof|poc|proof of concept|exploit|exploitation|exploit scenario|attack scenario|attack vector|impact|recommendation|recommendations|remediation|fix|suggested fix|mitigation|solution|reference|references|cvss|cvss score|cvss vector|owasp|effort|likelihood|secure code|fixed code|source|sink|prerequisites|preconditions|证据|代码|代码片段|漏洞代码|问题代码|验证|利用方式|利用条件|利用场景|攻击场景|攻击向量|影响|危害|影响范围|漏洞影响|建议|修复|修复建议|修复方案|整改建议|解决方案|参考|参考资料|cvss评分|安全代码|修复代码|关键代码",
})

// spelled turns "a|b" under a meaning into the meanings of a and of b.
func spelled[K comparable](words map[K]string) map[string]K {
	m := map[string]K{}
	for k, list := range words {
		for _, w := range strings.Split(list, "|") {
			m[w] = k
		}
	}
	return m
}

var (
	bracketed   = regexp.MustCompile(`\s*[(（\[【]([^)）\]】]*)[)）\]】]\s*`)
	underscores = strings.NewReplacer("_", " ", "-", " ")
)

// fieldOf gives the field that a column's heading or a key names, "" when it
// names none. "Severity (CVSS)" and "文件 (File)" are read by either half.
func fieldOf(key string) field {
	if len(key) > 60 {
		return ""
	}
	plain := strings.ToLower(strings.Join(strings.Fields(bare(key)), " "))
	spaced := underscores.Replace(plain)
	tries := []string{plain, spaced, strings.ReplaceAll(spaced, " ", ""), strings.TrimSpace(bracketed.ReplaceAllString(spaced, " "))}
	if m := bracketed.FindStringSubmatch(spaced); m != nil {
		tries = append(tries, strings.TrimSpace(m[1]))
	}
	if a, b, ok := strings.Cut(spaced, "/"); ok {
		tries = append(tries, strings.TrimSpace(a), strings.TrimSpace(b))
	}
	for _, t := range tries {
		if f, ok := aliases[t]; ok {
			return f
		}
	}
	return ""
}

// bare takes emoji and decoration from the ends of a word. A # stays when
// nothing else is there: it heads columns of numbers.
func bare(s string) string {
	t := strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("*_`#:：>-•", r) || unicode.In(r, unicode.So, unicode.Mn, unicode.Sk, unicode.Cf)
	})
	if t == "" && strings.Contains(s, "#") {
		return "#"
	}
	return t
}

var (
	keyValue   = regexp.MustCompile("^[*_`]*([^:：\"|*`]{1,60}?)[*_`]*\\s*[:：]\\s*(?:\\*\\*)?\\s*(.*)$")
	fieldBreak = regexp.MustCompile(`\s*[|｜·•]\s*|\s+[-–—]\s+|[;；,，]\s*|\s{2,}`)
)

// A keyed is one "Key: value" of a line, the value as it stands.
type keyed struct {
	field
	raw string
}

func cutField(s string) (keyed, bool) {
	m := keyValue.FindStringSubmatch(s)
	if m == nil {
		return keyed{}, false
	}
	f := fieldOf(m[1])
	return keyed{f, m[2]}, f != ""
}

// maxFields is the longest value, in bytes, in which further fields are looked
// for: nobody writes a longer line of them, and the search is not linear.
const maxFields = 600

// fieldsIn reads the fields of a line, one or several: "Severity: HIGH | CWE: 89".
// What stands between two marks and is no field belongs to the field before.
func fieldsIn(line string) []keyed {
	first, ok := cutField(line)
	if !ok {
		return nil
	}
	fs, val := []keyed{first}, first.raw
	_, _, quoted := literal(val)
	if quoted || first.field == fDescription || first.field == fIgnored || first.field == fTrace || len(val) > maxFields {
		return fs
	}
	at := 0
	for _, m := range fieldBreak.FindAllStringIndex(val, -1) {
		next, ok := cutField(val[m[1]:])
		if !ok || m[0] < at {
			continue
		}
		fs[len(fs)-1].raw = val[at:m[0]]
		fs = append(fs, next)
		at = len(val) - len(next.raw)
		if next.field == fDescription || next.field == fIgnored {
			break
		}
	}
	return fs
}
